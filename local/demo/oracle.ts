import { members } from './members.ts';
import type { ReferenceRow } from './reference.ts';
import { DAY, micros } from './time.ts';

/**
 * What must come out, folded from what went in. Written from the guarantees alone: it shares no code with the
 * functions, so that a mistake of theirs cannot hide behind the same mistake here.
 */

export interface Published {
  readonly line: string;
  readonly messageId: string;
}

export interface ExpectedEvent {
  readonly uniqueKey: string;
  readonly eventId: string;
  readonly eventStatus: string;
  readonly eventTime: number;
  readonly joinKey: string | null;
  readonly sequence: number | null;
  readonly payload: string | null;
}

export interface ExpectedSummary {
  readonly uniqueKey: string;
  readonly finalStatus: string;
  readonly complete: boolean;
  readonly totalSteps: number;
  readonly startTime: number;
  readonly finishTime: number;
  readonly lastEventTime: number;
  /** In order of (time, id), all of them. */
  readonly steps: readonly ExpectedEvent[];
}

export interface Expected {
  readonly published: number;
  /** Messages that repeat an identity. */
  readonly repeats: number;
  /** By identity. */
  readonly events: ReadonlyMap<string, ExpectedEvent>;
  /** By key; keys without a completion have none. */
  readonly summaries: ReadonlyMap<string, ExpectedSummary>;
  readonly openKeys: ReadonlySet<string>;
  /** Target attribute by identity; undefined when there is no reference row. */
  readonly targets: ReadonlyMap<string, string | null | undefined>;
  readonly deadLetters: readonly { readonly line: string; readonly reason: string }[];
  /** Keys with one identity published with different contents: which one counts depends on the order of arrival. */
  readonly undecided: ReadonlySet<string>;
}

export interface OracleOptions {
  readonly completion: readonly string[];
  /** One row for each join key. */
  readonly reference: readonly ReferenceRow[];
  /** Epoch microseconds. */
  readonly now: number;
}

export const identity = (uniqueKey: string, eventId: string): string => JSON.stringify([uniqueKey, eventId]);

export function expect(published: readonly Published[], options: OracleOptions): Expected {
  const events = new Map<string, ExpectedEvent>();
  const deadLetters: { line: string; reason: string }[] = [];
  const undecided = new Set<string>();
  let repeats = 0;
  for (const message of published) {
    const event = read(message, options.now);
    if (typeof event === 'string') {
      deadLetters.push({ line: message.line, reason: event });
      continue;
    }
    const id = identity(event.uniqueKey, event.eventId);
    const known = events.get(id);
    if (known === undefined) {
      events.set(id, event);
      continue;
    }
    repeats++;
    if (JSON.stringify(known) !== JSON.stringify(event)) undecided.add(event.uniqueKey);
  }
  const keys = Map.groupBy(events.values(), ({ uniqueKey }) => uniqueKey);
  const summaries = new Map<string, ExpectedSummary>();
  const openKeys = new Set<string>();
  for (const [key, ofKey] of keys) {
    const summary = summarise(key, ofKey, options.completion);
    if (summary === null) openKeys.add(key);
    else summaries.set(key, summary);
  }
  const reference = new Map(options.reference.map((row) => [row.join_key, row.target_attribute]));
  const targets = new Map(
    [...events].map(([id, { joinKey }]) => [id, joinKey === null ? undefined : reference.get(joinKey)]),
  );
  return { published: published.length, repeats, events, summaries, openKeys, targets, deadLetters, undecided };
}

function summarise(
  key: string,
  events: readonly ExpectedEvent[],
  completion: readonly string[],
): ExpectedSummary | null {
  const steps = events.toSorted((a, b) => a.eventTime - b.eventTime || byBytes(a.eventId, b.eventId));
  const codas = steps.filter(({ eventStatus }) => completion.includes(eventStatus));
  const coda = codas.at(-1);
  if (coda === undefined) return null;
  const numbers = new Set(steps.map(({ sequence }) => sequence).filter((number) => number !== null));
  // The completion events announce the total; where they do not, there must be no gap below the largest number.
  const total = largest(codas.map(({ sequence }) => sequence ?? 0)) || largest(numbers);
  return {
    uniqueKey: key,
    finalStatus: coda.eventStatus,
    complete: numbers.size === total && largest(numbers) === total,
    totalSteps: steps.length,
    startTime: steps[0]!.eventTime,
    finishTime: coda.eventTime,
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

const LIMITS = { unique_key: 1500, event_status: 1024, event_id: 1024, join_key: 1024 };

/** The event of a message, or the reason why it can never be one. */
function read({ line, messageId }: Published, now: number): ExpectedEvent | string {
  let object: unknown;
  try {
    object = JSON.parse(line);
  } catch {
    return 'invalid_json';
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return 'not_an_object';
  const spans = members(line);
  if (new Set(spans.map(({ name }) => name)).size !== spans.length) return 'duplicate_member';
  const event = object as Record<string, unknown>;
  const { unique_key, event_status, timestamp, event_id, join_key = null, sequence = null } = event;
  if (unique_key === undefined || unique_key === null) return 'missing_key';
  if (event_status === undefined || event_status === null) return 'missing_field';
  if (timestamp === undefined || timestamp === null) return 'missing_field';
  for (const [name, bytes] of Object.entries(LIMITS)) {
    const value = event[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string') return 'wrong_type';
    if (!value.isWellFormed()) return 'invalid_unicode';
    if (Buffer.byteLength(value) > bytes) return 'too_large';
  }
  if ((unique_key as string).trim() === '') return 'missing_key';
  if (event_status === '') return 'missing_field';
  if (sequence !== null && !(Number.isSafeInteger(sequence) && (sequence as number) > 0)) return 'wrong_type';
  const time = micros(timestamp);
  if (time === null) return 'invalid_timestamp';
  if (!inRange(time, now)) return 'timestamp_out_of_range';
  const payload = spans.find(({ name }) => name === 'payload');
  const source = payload === undefined ? 'null' : line.slice(payload.start, payload.end);
  return {
    uniqueKey: unique_key as string,
    eventId: typeof event_id === 'string' && event_id !== '' ? event_id : messageId,
    eventStatus: event_status as string,
    eventTime: time,
    joinKey: join_key as string | null,
    sequence: sequence as number | null,
    payload: source === 'null' ? null : source,
  };
}

/** Ten years back to one year ahead, with a day's margin at each end. */
function inRange(time: number, now: number): boolean {
  const from = new Date(now / 1000);
  from.setUTCFullYear(from.getUTCFullYear() - 10);
  const to = new Date(now / 1000);
  to.setUTCFullYear(to.getUTCFullYear() + 1);
  return time >= from.getTime() * 1000 + DAY && time <= to.getTime() * 1000 - DAY;
}
