import { CodaflowError, toError, TransientError } from '../core/errors.ts';
import type { Event, Micros } from '../core/event.ts';
import { documentId } from '../core/ids.ts';
import { isDue } from '../core/sequence/due.ts';
import {
  documentsToRead,
  openState,
  recordEvents,
  type Fate,
  type RecordedKey,
  type SeenDocuments,
} from '../core/sequence/record.ts';
import { createRules, type Rules, type RuleSettings } from '../core/sequence/rules.ts';
import type { State } from '../core/sequence/state.ts';
import type { End } from '../end.ts';
import type { Document, Ports, Store, Transaction } from '../ports.ts';
import { attempt } from './attempt.ts';
import { readState, seenPath, sequencePath, writeState, type DueKey } from './documents.ts';

export type { DueKey } from './documents.ts';
export { completionMessage } from './completion.ts';

/** What became of one event; `failed` carries a TransientError, AmbiguousError or PermanentError. */
export type Recorded = Fate | { readonly kind: 'failed'; readonly error: Error };

export interface RecordResult {
  /** In the order of the events. */
  readonly outcomes: readonly Recorded[];
  /** Every key of these events whose summary is due now and that no live claim holds, also after repeats. */
  readonly due: readonly DueKey[];
}

export interface Recorder {
  /**
   * Records events of a few keys in one transaction; when that fails, each key in a transaction of its own, so that one
   * key never takes its neighbours with it. Resolves by `end`, never rejects for a failed key.
   */
  record(events: readonly Event[], end: End): Promise<RecordResult>;
}

/** Transactions of one key before its events count as failed. */
const ATTEMPTS = 4;

/** The events of one key, with their places among the caller's. */
interface Batch {
  readonly uniqueKey: string;
  /** Of its document. */
  readonly path: string;
  readonly events: Event[];
  readonly places: number[];
}

interface BatchResult {
  readonly fates: readonly Recorded[];
  readonly due: boolean;
}

export function createRecorder(ports: Pick<Ports, 'store' | 'clock'>, config: RuleSettings): Recorder {
  const rules = createRules(config);
  const transact = (batches: readonly Batch[], store: Store): Promise<readonly BatchResult[]> =>
    store.transaction((tx) => recordBatches(tx, batches, ports.clock.now(), rules));

  async function alone(batch: Batch, store: Store): Promise<BatchResult> {
    try {
      const [result] = await attempt(ATTEMPTS, () => transact([batch], store));
      return result!;
    } catch (thrown) {
      const error = toError(thrown);
      const known =
        error instanceof CodaflowError
          ? error
          : new TransientError('unavailable', `the state of the key cannot be changed: ${error.message}`, error);
      return { fates: batch.events.map(() => ({ kind: 'failed', error: known })), due: false };
    }
  }

  async function recordAll(batches: readonly Batch[], store: Store): Promise<readonly BatchResult[]> {
    if (batches.length === 1) return [await alone(batches[0]!, store)];
    try {
      return await transact(batches, store);
    } catch {
      // Whatever it was, it shows again for the keys that it concerns. Repeating is idempotent, should it have committed.
      return Promise.all(batches.map((batch) => alone(batch, store)));
    }
  }

  return {
    async record(events, end) {
      const batches = byKey(events);
      if (batches.length === 0) return { outcomes: [], due: [] };
      const results = await recordAll(batches, end.guard(ports).store);
      const outcomes: Recorded[] = [];
      const due: DueKey[] = [];
      batches.forEach(({ uniqueKey, places }, i) => {
        const result = results[i]!;
        places.forEach((place, j) => (outcomes[place] = result.fates[j]!));
        if (result.due) due.push({ uniqueKey, id: documentId(uniqueKey) });
      });
      return { outcomes, due };
    },
  };
}

/** Keys in one order everywhere: transactions that lock documents then wait for each other instead of deadlocking. */
function byKey(events: readonly Event[]): readonly Batch[] {
  const batches = new Map<string, Batch>();
  events.forEach((event, place) => {
    let batch = batches.get(event.uniqueKey);
    if (batch === undefined) {
      const { uniqueKey } = event;
      batch = { uniqueKey, path: sequencePath(uniqueKey), events: [], places: [] };
      batches.set(event.uniqueKey, batch);
    }
    batch.events.push(event);
    batch.places.push(place);
  });
  return [...batches.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function recordBatches(
  tx: Transaction,
  batches: readonly Batch[],
  now: Micros,
  rules: Rules,
): Promise<readonly BatchResult[]> {
  const documents = await tx.get(batches.map(({ path }) => path));
  const states = batches.map(({ uniqueKey }, i) => openState(readState(documents[i]), uniqueKey, now));
  const seen = await readSeen(tx, batches, states, rules);
  return batches.map(({ path, events }, i) => {
    const result = recordEvents(states[i]!, events, seen[i]!, now, rules);
    if (result.changed) write(tx, path, result, now, rules);
    return { fates: result.fates, due: isDue(result.state, now, rules) };
  });
}

/** Reads the documents of identities that are not inline, all in one call. */
async function readSeen(
  tx: Transaction,
  batches: readonly Batch[],
  states: readonly State[],
  rules: Rules,
): Promise<readonly SeenDocuments[]> {
  const names = batches.map(({ events }, i) => documentsToRead(states[i]!, events, rules));
  const paths = batches.flatMap(({ path }, i) => names[i]!.map((name) => seenPath(path, name)));
  const found: (Document | null)[] = paths.length === 0 ? [] : [...(await tx.get(paths))];
  return names.map((ofKey) => {
    const known = new Map<string, number>();
    for (const name of ofKey) {
      const check = found.shift()?.['check'];
      if (typeof check === 'number') known.set(name, check);
    }
    return known;
  });
}

function write(tx: Transaction, path: string, result: RecordedKey, now: Micros, rules: Rules): void {
  tx.set(path, writeState(result.state, rules));
  // They outlive the time in which a key is normally open, and then stay as long as its state does.
  const expireAt = now + rules.age + rules.retention;
  for (const [name, check] of result.documents) {
    tx.set(seenPath(path, name), { check, expire_at: expireAt });
  }
}
