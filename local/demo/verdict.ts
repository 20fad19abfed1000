import { isDeepStrictEqual } from 'node:util';
import { identity, type Expected, type ExpectedEvent, type ExpectedSummary } from './oracle.ts';
import type { Output, Row } from './observe.ts';
import type { Received } from './receive.ts';
import { JOIN } from './join.ts';
import { rfc3339 } from './time.ts';

/** One line of the report: what was found beside what must be there. */
export interface Check {
  readonly name: string;
  readonly found: number;
  readonly expected: number;
  /** `least`: repeats in the raw table are allowed by design. `none`: nothing is known to compare with. */
  readonly rule: 'equal' | 'least' | 'none';
  /** First differences between rows, for a person. */
  readonly differences: readonly string[];
  /** How many rows differ. */
  readonly different: number;
}

export interface Counts {
  /** Rows of the table `events`, repeats included. */
  readonly rawRows: number;
  readonly open: number;
  readonly finished: number;
}

export interface Observed {
  readonly output: Output;
  readonly counts: Counts;
  readonly results: readonly Received[];
  /** Messages that a publisher was told are accepted, and of which Pub/Sub knows nothing. */
  readonly lost: number;
  /** Whether the join is the one that the expectation is written for. */
  readonly knownJoin: boolean;
}

export const passed = (check: Check): boolean =>
  check.rule === 'none' ||
  (check.different === 0 && (check.rule === 'equal' ? check.found === check.expected : check.found >= check.expected));

/** Compares everything that came out with the fold over what went in: row by row, not only the numbers. */
export function judge(expected: Expected, { output, counts, results, lost, knownJoin }: Observed): Check[] {
  const ignored = expected.undecided;
  const rows = (name: keyof Output): Row[] => output[name].filter((row) => !ignored.has(String(row['unique_key'])));
  const events = new Map([...expected.events].filter(([, event]) => !ignored.has(event.uniqueKey)));
  const summaries = new Map([...expected.summaries].filter(([key]) => !ignored.has(key)));
  const stored = expected.published + expected.written - expected.deadLetters.length;
  const targetOf = (id: string): Row => messageOf(events.get(id)!, expected.targets.get(id));
  const received = latestById(results.filter(({ attributes }) => (attributes['join'] ?? JOIN) === JOIN));
  const keep = (row: Row): boolean => !ignored.has(String(row['unique_key']));
  const ledger = rows('joined').filter((row) => row['join_name'] === JOIN);
  const joining = (name: string, found: readonly Row[], normal: (row: Row) => Row): Check =>
    knownJoin
      ? compare(name, found, events, idOf, (_, id) => targetOf(id), normal)
      : { ...plain(name, found.length, found.length), rule: 'none' };
  return [
    plain('published', expected.published, expected.published + lost),
    { ...plain('rows', counts.rawRows, stored), rule: 'least' },
    compare('unique', rows('events_unique'), events, idOf, eventRow, eventColumns),
    within(ignored.size, plain('finished', counts.finished, expected.summaries.size)),
    within(ignored.size, plain('open', counts.open, expected.openKeys.size)),
    compare('summaries', rows('summaries_latest'), summaries, keyOf, summaryRow, summaryColumns),
    joining('joined', ledger, ledgerMessage),
    joining('results', received.map(resultMessage).filter(keep), (row) => row),
    deadLetters(output.dead_letters, expected),
  ];
}

const idOf = (row: Row): string => identity(String(row['unique_key']), String(row['event_id']));
const keyOf = (row: Row): string => String(row['unique_key']);

function plain(name: string, found: number, expected: number): Check {
  return { name, found, expected, rule: 'equal', differences: [], different: 0 };
}

/** Undecided keys may count on either side. */
function within(slack: number, check: Check): Check {
  return Math.abs(check.found - check.expected) <= slack ? { ...check, expected: check.found } : check;
}

const SHOWN = 5;

/** Compares found rows with expected things by id; `normal` and `toRow` bring both to the same shape. */
function compare<T>(
  name: string,
  rows: readonly Row[],
  expected: ReadonlyMap<string, T>,
  idOfRow: (row: Row) => string,
  toRow: (thing: T, id: string) => Row,
  normal: (row: Row) => Row,
): Check {
  const differences: string[] = [];
  let different = 0;
  const differ = (text: string): void => {
    if (different++ < SHOWN) differences.push(text);
  };
  const seen = new Set<string>();
  for (const row of rows) {
    const id = idOfRow(row);
    const thing = expected.get(id);
    if (thing === undefined) differ(`${id} is there and nobody published it`);
    else if (seen.has(id)) differ(`${id} is there twice`);
    else {
      const [have, want] = [normal(row), toRow(thing, id)];
      if (!isDeepStrictEqual(have, want)) differ(`${id}: ${firstDifference(have, want)}`);
    }
    seen.add(id);
  }
  for (const id of expected.keys()) if (!seen.has(id)) differ(`${id} is missing`);
  return { name, found: rows.length, expected: expected.size, rule: 'equal', differences, different };
}

function firstDifference(have: Row, want: Row): string {
  const name = Object.keys({ ...have, ...want }).find((key) => !isDeepStrictEqual(have[key], want[key]));
  if (name === undefined) return 'differs';
  const show = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 200);
  return `${name} is ${show(have[name])} and should be ${show(want[name])}`;
}

function eventRow(event: ExpectedEvent): Row {
  return {
    unique_key: event.uniqueKey,
    event_id: event.eventId,
    event_status: event.eventStatus,
    event_time: rfc3339(event.eventTime),
    join_key: event.joinKey,
    sequence: event.sequence,
    payload: event.payload,
  };
}

function eventColumns(row: Row): Row {
  const { unique_key, event_id, event_status, event_time, join_key, sequence, payload } = row;
  return { unique_key, event_id, event_status, event_time, join_key, sequence, payload };
}

/** A summary keeps the first steps only, within a count and a size; these are always there. */
const STEPS = 20;

function summaryRow(summary: ExpectedSummary): Row {
  return {
    unique_key: summary.uniqueKey,
    state: summary.state,
    complete: summary.complete,
    final_status: summary.finalStatus,
    total_steps: summary.totalSteps,
    start_time: rfc3339(summary.startTime),
    finish_time: summary.finishTime === null ? null : rfc3339(summary.finishTime),
    last_event_time: rfc3339(summary.lastEventTime),
    duration_seconds: summary.finishTime === null ? null : (summary.finishTime - summary.startTime) / 1e6,
    steps: summary.steps.slice(0, STEPS).map((step) => ({
      event_id: step.eventId,
      event_status: step.eventStatus,
      event_time: rfc3339(step.eventTime),
    })),
  };
}

function summaryColumns(row: Row): Row {
  const { unique_key, state, complete, final_status, total_steps, start_time, finish_time, last_event_time } = row;
  const { duration_seconds, steps } = row;
  return {
    ...{ unique_key, state, complete, final_status, total_steps, start_time, finish_time, last_event_time },
    ...{ duration_seconds, steps: (steps as readonly Row[]).slice(0, STEPS) },
  };
}

function messageOf(event: ExpectedEvent, target: string | null | undefined): Row {
  return {
    unique_key: event.uniqueKey,
    event_id: event.eventId,
    payload: event.payload,
    target_attribute: target ?? null,
    enriched: target !== undefined,
  };
}

const ledgerMessage = (row: Row): Row => JSON.parse(String(row['message'])) as Row;
const resultMessage = (result: Received): Row =>
  typeof result.message === 'object' && result.message !== null ? (result.message as Row) : { body: result.message };

/** One message for each result id; another content under the same id stays and shows as a difference. */
function latestById(results: readonly Received[]): Received[] {
  const kept = new Map<string, Received>();
  for (const result of results) {
    kept.set(JSON.stringify([result.attributes['result_id'], result.message]), result);
  }
  return [...kept.values()];
}

/** Dead letters of the topic, by the bytes of the original message, one for each distinct message and reason. */
function deadLetters(rows: readonly Row[], { deadLetters: expected, undecided }: Expected): Check {
  const differences: string[] = [];
  const judged = rows.filter((row) => !elsewhere(row) && !isConflict(row, undecided));
  const found = new Set(judged.map((row) => deadLetterId(String(row['data']), reasonOf(row))));
  const wanted = new Set(expected.map(({ data, reason }) => deadLetterId(data.toString('base64'), reason)));
  for (const id of wanted) if (!found.has(id)) differences.push(`no dead letter ${id.slice(0, 300)}`);
  for (const id of found) if (!wanted.has(id)) differences.push(`unexpected dead letter ${id.slice(0, 300)}`);
  return {
    ...plain('dead_letters', found.size, wanted.size),
    differences: differences.slice(0, SHOWN),
    different: differences.length,
  };
}

/** Of requests and watches: they did not come by the topic. */
function elsewhere(row: Row): boolean {
  return /^submit|\/watches-poll$/.test(attributesOf(row)['origin'] ?? '');
}

/** Which of two contents of one identity is the conflict depends on the order of arrival. */
function isConflict(row: Row, undecided: ReadonlySet<string>): boolean {
  return reasonOf(row) === 'event_id_conflict' && undecided.has(attributesOf(row)['unique_key'] ?? '');
}

function deadLetterId(base64: string, reason: string): string {
  return `${reason}: ${Buffer.from(base64, 'base64').toString('utf8')}`;
}

export function reasonOf(row: Row): string {
  return attributesOf(row)['reason'] ?? '';
}

function attributesOf(row: Row): Readonly<Record<string, string | undefined>> {
  return JSON.parse(row['attributes'] as string) as Readonly<Record<string, string | undefined>>;
}
