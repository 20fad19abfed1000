import { namesAt, type Fields } from './fields.ts';
import { readEvent, type ExpectedEvent, type Published } from './read-event.ts';
import type { ReferenceRow } from './reference.ts';
import { DAY } from './time.ts';

export type { ExpectedEvent, Published } from './read-event.ts';

/**
 * What must come out, folded from what went in. Written from the guarantees alone: it shares no code with the
 * functions, so that a mistake of theirs cannot hide behind the same mistake here.
 */

export interface ExpectedSummary {
  readonly uniqueKey: string;
  /** `expired`: no completion, and no event for a day. */
  readonly state: 'finished' | 'expired';
  readonly finalStatus: string | null;
  readonly complete: boolean;
  readonly totalSteps: number;
  readonly startTime: number;
  readonly finishTime: number | null;
  readonly lastEventTime: number;
  /** In order of (time, id), all of them. */
  readonly steps: readonly ExpectedEvent[];
}

/** An event that came past the topic, over HTTP, and when (epoch microseconds). */
export interface Written {
  readonly event: ExpectedEvent;
  readonly time: number;
}

export interface Expected {
  readonly published: number;
  /** Events that came over HTTP. */
  readonly written: number;
  /** Messages that repeat an identity. */
  readonly repeats: number;
  /** By identity. */
  readonly events: ReadonlyMap<string, ExpectedEvent>;
  /** By key; open keys have none. */
  readonly summaries: ReadonlyMap<string, ExpectedSummary>;
  readonly openKeys: ReadonlySet<string>;
  /** Target attribute by identity; undefined when there is no reference row. */
  readonly targets: ReadonlyMap<string, string | null | undefined>;
  readonly deadLetters: readonly { readonly data: Buffer; readonly reason: string }[];
  /**
   * Keys of which the messages alone do not decide what comes out: one identity with different contents (the first to
   * arrive counts), or a silence long enough to expire that was, or is about to be, broken.
   */
  readonly undecided: ReadonlySet<string>;
}

export interface OracleOptions {
  readonly completion: readonly string[];
  /** One row for each join key. */
  readonly reference: readonly ReferenceRow[];
  readonly written?: readonly Written[];
  /** What the members of the messages were called, and when. */
  readonly fields?: readonly Fields[];
  /** Epoch microseconds. */
  readonly now: number;
}

/** Defaults of the functions, which the demo leaves alone. */
const SILENCE = DAY;
const AGE = 30 * DAY;
/** Around a deadline either outcome is right. */
const MARGIN = 600_000_000;

export const identity = (uniqueKey: string, eventId: string): string => JSON.stringify([uniqueKey, eventId]);

export function expect(published: readonly Published[], options: OracleOptions): Expected {
  const { written = [], fields = [], now } = options;
  const names = namesAt(fields);
  const deadLetters: { data: Buffer; reason: string }[] = [];
  const accepted: Written[] = [...written];
  for (const message of published) {
    const event = readEvent(message, names(message.time));
    if (typeof event === 'string') deadLetters.push({ data: message.data, reason: event });
    else accepted.push({ event, time: message.time });
  }
  const events = new Map<string, ExpectedEvent>();
  const arrivals = new Map<string, number[]>();
  const undecided = new Set<string>();
  let repeats = 0;
  for (const { event, time } of accepted) {
    const id = identity(event.uniqueKey, event.eventId);
    const known = events.get(id);
    if (known === undefined) {
      events.set(id, event);
      const times = arrivals.get(event.uniqueKey);
      if (times === undefined) arrivals.set(event.uniqueKey, [time]);
      else times.push(time);
      continue;
    }
    repeats++;
    if (JSON.stringify(known) !== JSON.stringify(event)) undecided.add(event.uniqueKey);
  }
  const summaries = new Map<string, ExpectedSummary>();
  const openKeys = new Set<string>();
  for (const [key, ofKey] of Map.groupBy(events.values(), ({ uniqueKey }) => uniqueKey)) {
    const summary = summarise(key, ofKey, options.completion);
    const fate = summary.state === 'finished' ? 'finished' : fateOf(arrivals.get(key)!, now);
    if (fate === 'undecided') undecided.add(key);
    if (fate === 'finished' || fate === 'expired') summaries.set(key, summary);
    else openKeys.add(key);
  }
  const reference = new Map(options.reference.map((row) => [row.join_key, row.target_attribute]));
  const targets = new Map(
    [...events].map(([id, { joinKey }]) => [id, joinKey === null ? undefined : reference.get(joinKey)]),
  );
  const counts = { published: published.length, written: written.length, repeats };
  return { ...counts, events, summaries, openKeys, targets, deadLetters, undecided };
}

/** What becomes of a key without completion whose new events arrived at these times. */
function fateOf(times: readonly number[], now: number): 'open' | 'expired' | 'undecided' {
  const sorted = [...times.toSorted((a, b) => a - b), now];
  const silences = sorted.slice(1).map((time, index) => time - sorted[index]!);
  const last = silences.pop()!;
  if (silences.some((silence) => silence > SILENCE - MARGIN)) return 'undecided';
  if (sorted.at(-2)! - sorted[0]! > AGE - SILENCE - MARGIN) return 'undecided';
  if (Math.abs(last - SILENCE) <= MARGIN) return 'undecided';
  return last < SILENCE ? 'open' : 'expired';
}

function summarise(key: string, events: readonly ExpectedEvent[], completion: readonly string[]): ExpectedSummary {
  const steps = events.toSorted((a, b) => a.eventTime - b.eventTime || byBytes(a.eventId, b.eventId));
  const codas = steps.filter(({ eventStatus }) => completion.includes(eventStatus));
  const coda = codas.at(-1);
  const numbers = new Set(steps.map(({ sequence }) => sequence).filter((number) => number !== null));
  // The completion events announce the total; where they do not, there must be no gap below the largest number.
  const total = largest(codas.map(({ sequence }) => sequence ?? 0)) || largest(numbers);
  return {
    uniqueKey: key,
    state: coda === undefined ? 'expired' : 'finished',
    finalStatus: coda?.eventStatus ?? null,
    complete: coda !== undefined && numbers.size === total && largest(numbers) === total,
    totalSteps: steps.length,
    startTime: steps[0]!.eventTime,
    finishTime: coda?.eventTime ?? null,
    lastEventTime: steps.at(-1)!.eventTime,
    steps,
  };
}

function largest(numbers: Iterable<number>): number {
  let max = 0;
  for (const number of numbers) max = Math.max(max, number);
  return max;
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
