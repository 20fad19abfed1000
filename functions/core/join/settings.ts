import type { Micros } from '../event.ts';
import { COLUMN, Reader, type Problem } from './reader.ts';

/** What a join reads: the table `events`, or a table of the user's own whose identity and time columns are named. */
export interface Source {
  /** `table`, `dataset.table` or `project.dataset.table`. */
  readonly table: string;
  readonly key: string;
  readonly id: string;
  readonly time: string;
  /** Columns that order the repeats of an identity inside a window; the first row survives. */
  readonly order: readonly string[];
  /** Column of the arrival time, for the scan after a long stop; null reads the whole table. */
  readonly arrival: string | null;
}

/** A join: one SELECT and what surrounds it. Durations are in microseconds. */
export interface JoinSettings {
  readonly name: string;
  /** One SELECT over `new_events` and any tables but the source. */
  readonly query: string;
  readonly schedule: string;
  readonly topic: string;
  readonly source: Source;
  /** Where the first run begins. */
  readonly start: 'now' | 'earliest';
  readonly lookback: Micros;
  readonly step: Micros;
  readonly lag: Micros;
  readonly unmatched: 'wait' | 'drop';
  readonly wait: Micros;
  /** Columns of the SELECT that tell the rows of one event apart. */
  readonly rowKey: readonly string[];
  /** Columns of the SELECT, in order and each perhaps followed by ` DESC`, that decide which row of a result id survives. */
  readonly order: readonly string[];
  /** Columns of the SELECT that are left out of the message, such as one that only orders. */
  readonly omit: readonly string[];
  readonly maxBytesBilled: number;
  /** Column whose text is the message's ordering key; null publishes without. */
  readonly orderingKey: string | null;
  /** Columns that are copied into the message's attributes. */
  readonly attributes: readonly string[];
}

/** The settings that a join's file may leave out. */
export type JoinDefaults = Pick<JoinSettings, 'topic' | 'lookback' | 'step' | 'lag' | 'wait' | 'maxBytesBilled'>;

const EVENTS: Source = {
  table: 'events',
  key: 'unique_key',
  id: 'event_id',
  time: 'event_time',
  order: ['ingest_time', 'message_id', 'event_time'],
  arrival: 'ingest_time',
};

const MEMBERS = ['schedule', 'topic', 'source', 'start', 'lookback', 'step', 'lag', 'unmatched', 'wait', 'row_key', 'order', 'omit', 'max_bytes_billed', 'ordering_key', 'attributes']; // prettier-ignore

const ORDERED = /^[A-Za-z_]\w{0,299}( DESC)?$/;

function readSource(value: unknown, problems: Problem[]): Source {
  if (value === undefined || value === null || value === 'events') return EVENTS;
  if (typeof value !== 'object' || Array.isArray(value)) {
    problems.push({ member: 'source', text: 'source must be "events" or an object with table, key, id and time' });
    return EVENTS;
  }
  const file = value as Record<string, unknown>;
  const reader = new Reader(file, ['table', 'key', 'id', 'time', 'order', 'arrival'], 'source.');
  const source = {
    table: reader.required('table', /^([\w-]+\.){0,2}[\w-]+$/, 'a table name'),
    key: reader.required('key', COLUMN, 'a column name'),
    id: reader.required('id', COLUMN, 'a column name'),
    time: reader.required('time', COLUMN, 'a column name'),
    order: reader.columns('order'),
    arrival: reader.text('arrival', null, COLUMN, 'a column name'),
  };
  problems.push(...reader.problems);
  return source;
}

/** Pub/Sub's limits of attributes, and the names that Codaflow gives. */
const ATTRIBUTE = /^(?!goog)(?!(?:result_id|join|unique_key|unique_key_sha256)$)[A-Za-z_]\w{0,255}$/i;
const MOST_ATTRIBUTES = 97;

/**
 * Settings of the join `name` from its two files; `where` says where a member stands, for people.
 *
 * @throws Error that lists every problem
 */
export function parseJoin(
  name: string,
  query: string,
  file: Readonly<Record<string, unknown>>,
  defaults: JoinDefaults,
  where: (member: string) => string = () => '',
): JoinSettings {
  const reader = new Reader(file, MEMBERS);
  const problems = reader.problems;
  const settings: JoinSettings = {
    name,
    // Line numbers stay those of the file.
    query: query.trimEnd().replace(/;$/, ''),
    schedule: reader.text('schedule', '*/2 * * * *', /^\S+( \S+){4}$/, 'a unix-cron schedule'),
    topic: reader.text('topic', defaults.topic, /^[A-Za-z][\w.~+%-]{2,254}$/, 'a topic id'),
    source: readSource(file['source'], problems),
    start: reader.text('start', 'now', /^(now|earliest)$/, '"now" or "earliest"') as 'now' | 'earliest',
    lookback: reader.duration('lookback', defaults.lookback),
    step: reader.duration('step', defaults.step),
    lag: reader.duration('lag', defaults.lag),
    unmatched: reader.text('unmatched', 'wait', /^(wait|drop)$/, '"wait" or "drop"') as 'wait' | 'drop',
    wait: reader.duration('wait', defaults.wait),
    rowKey: reader.columns('row_key'),
    order: reader.columns('order', ORDERED, 'a list of column names, each perhaps followed by " DESC"'),
    omit: reader.columns('omit'),
    maxBytesBilled: reader.count('max_bytes_billed', defaults.maxBytesBilled),
    orderingKey: reader.text('ordering_key', null, COLUMN, 'a column name'),
    attributes: reader.columns(
      'attributes',
      ATTRIBUTE,
      "a list of column names that Pub/Sub takes as attributes and that are not Codaflow's own",
    ),
  };
  const wrong = (member: string, text: string) => void problems.push({ member, text });
  if (settings.attributes.length > MOST_ATTRIBUTES)
    wrong('attributes', `attributes has more than ${MOST_ATTRIBUTES} columns`);
  for (const column of [settings.orderingKey, ...settings.attributes])
    if (column !== null && settings.omit.includes(column))
      wrong('omit', `omit leaves out ${column}, which the message needs`);
  if (settings.wait > settings.lookback) wrong('wait', 'wait must not be longer than lookback');
  if (settings.step <= 0) wrong('step', 'step must be longer than 0s');
  if (settings.lookback < defaults.lookback) wrong('lookback', 'lookback must not be shorter than JOIN_LOOKBACK');
  const told = problems.map(({ member, text }) => where(member) + text);
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name))
    told.push(`the folder ${JSON.stringify(name)} must be named with a-z, 0-9 and _`);
  if (settings.query.trim() === '') told.push(`joins/${name}/query.sql is empty`);
  if (told.length > 0)
    throw new Error(`The join ${name} has ${told.length} problem(s):\n${told.map((text) => `- ${text}`).join('\n')}`);
  return settings;
}
