import type { Event, EventRow } from '../core/event.ts';
import { toError } from '../core/errors.ts';
import type { End } from '../end.ts';
import { eachLimited } from '../keys/limit.ts';
import type { Bus, Clock, Message, Table } from '../ports.ts';
import { appendAll } from './append.ts';
import { cutIntoWaves, type ChunkLimits } from './chunks.ts';

/** What the state of the keys says about one event. */
export type Recorded =
  | { readonly kind: 'recorded' }
  | { readonly kind: 'repeated' }
  | { readonly kind: 'conflict'; readonly message: string }
  | { readonly kind: 'failed'; readonly error: Error };

/** Fate of one event in its group. */
export type Fate = Recorded | { readonly kind: 'refused'; readonly reason: string };

/** The state of the keys, as far as a group needs it. */
export interface Recording<Due extends { readonly uniqueKey: string }> {
  /** Few keys at once, by `end`. A repeat of what was recorded is harmless. */
  record(
    events: readonly Event[],
    end: End,
  ): Promise<{ readonly outcomes: readonly Recorded[]; readonly due: readonly Due[] }>;
  /** The message that wakes the summary of a key. */
  message(due: Due): Message;
}

export interface Pending {
  readonly event: Event;
  readonly row: EventRow;
}

export interface CommitPorts {
  readonly clock: Clock;
  readonly bus: Bus;
  readonly events: Table<EventRow>;
}

/** Transactions side by side; they touch different keys. */
const WIDTH = 8;

/**
 * Commits one group by its end: append, then record, then wake the summaries that are due. Nothing is told as recorded or
 * repeated before BigQuery, then the state, then the wake-up hold it.
 */
export function createCommit<Due extends { readonly uniqueKey: string }>(
  ports: CommitPorts,
  recording: Recording<Due>,
  limits: ChunkLimits,
): (group: readonly Pending[], end: End) => Promise<readonly Fate[]> {
  return async (group, end) => {
    const { bus, events } = end.guard(ports);
    const fates = new Map<Pending, Fate>();

    // `recorded` here only says that BigQuery holds the row.
    const rows = group.map(({ row }) => row);
    const appended: readonly Fate[] = await appendAll(events, rows);
    appended.forEach((fate, index) => fates.set(group[index]!, fate));

    const due = new Map<string, Due>();
    const stored = group.filter((pending) => fates.get(pending)!.kind === 'recorded');
    for (const wave of cutIntoWaves(stored, keyOf, limits)) {
      await eachLimited(wave, WIDTH, async (chunk) => {
        const result = await record(recording, chunk, end);
        chunk.forEach((pending, index) => fates.set(pending, result.outcomes[index]!));
        for (const one of result.due) due.set(one.uniqueKey, one);
      });
    }

    await wake(bus, recording, [...due.values()], (key, error) => {
      for (const pending of group) {
        const { kind } = fates.get(pending)!;
        if (keyOf(pending) === key && (kind === 'recorded' || kind === 'repeated')) {
          fates.set(pending, { kind: 'failed', error });
        }
      }
    });
    return group.map((pending) => fates.get(pending)!);
  };
}

function keyOf(pending: Pending): string {
  return pending.event.uniqueKey;
}

async function record<Due extends { readonly uniqueKey: string }>(
  recording: Recording<Due>,
  chunk: readonly Pending[],
  end: End,
): Promise<{ outcomes: readonly Recorded[]; due: readonly Due[] }> {
  try {
    return await recording.record(
      chunk.map(({ event }) => event),
      end,
    );
  } catch (thrown) {
    const error = toError(thrown);
    return { outcomes: chunk.map(() => ({ kind: 'failed', error })), due: [] };
  }
}

/** An event whose key was not woken is not acknowledged: its repeat wakes the key. */
async function wake<Due extends { readonly uniqueKey: string }>(
  bus: Bus,
  recording: Recording<Due>,
  due: readonly Due[],
  failed: (key: string, error: Error) => void,
): Promise<void> {
  if (due.length === 0) return;
  let results: readonly (string | Error)[];
  try {
    results = await bus.publish(
      'completions',
      due.map((one) => recording.message(one)),
    );
  } catch (thrown) {
    results = due.map(() => toError(thrown));
  }
  results.forEach((result, index) => {
    if (result instanceof Error) failed(due[index]!.uniqueKey, result);
  });
}
