import type { Micros } from '../event.ts';

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

const UNITS: Readonly<Record<string, Micros>> = { s: 1e6, m: 60e6, h: 3600e6, d: 86_400e6 };
const MEMBERS = ['schedule', 'topic', 'source', 'start', 'lookback', 'step', 'lag', 'unmatched', 'wait', 'row_key', 'order', 'omit', 'max_bytes_billed', 'ordering_key', 'attributes']; // prettier-ignore

/** Reads the members of one JSON object and collects every problem instead of stopping at the first. */
class Reader {
  readonly problems: string[] = [];
  readonly #file: Readonly<Record<string, unknown>>;
  readonly #prefix: string;
  constructor(file: Readonly<Record<string, unknown>>, allowed: readonly string[], prefix = '') {
    this.#file = file;
    this.#prefix = prefix;
    for (const member of Object.keys(file)) {
      if (!allowed.includes(member)) this.#problem(member, `is unknown; members are ${allowed.join(', ')}`);
    }
  }
  #problem(member: string, text: string): void {
    const value = this.#file[member];
    this.problems.push(
      `${this.#prefix}${member} ${text}${value === undefined ? '' : `, got ${JSON.stringify(value)}`}`,
    );
  }
  text<T>(member: string, fallback: T, pattern: RegExp, expected: string): string | T {
    const value = this.#file[member];
    if (value === undefined) return fallback;
    if (typeof value === 'string' && pattern.test(value)) return value;
    this.#problem(member, `must be ${expected}`);
    return fallback;
  }
  duration(member: string, fallback: Micros): Micros {
    const text = this.text(member, null, /^\d{1,7}[smhd]$/, 'a duration such as 30s, 10m or 6h');
    return text === null ? fallback : Number(text.slice(0, -1)) * UNITS[text.at(-1)!]!;
  }
  columns(member: string, pattern = COLUMN, expected = 'a list of column names'): readonly string[] {
    const value = this.#file[member];
    if (value === undefined) return [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string' && pattern.test(item)))
      return value as string[];
    this.#problem(member, `must be ${expected}`);
    return [];
  }
  count(member: string, fallback: number): number {
    const value = this.#file[member];
    if (value === undefined) return fallback;
    if (Number.isSafeInteger(value) && (value as number) > 0) return value as number;
    this.#problem(member, 'must be a positive whole number');
    return fallback;
  }
}

const COLUMN = /^[A-Za-z_]\w{0,299}$/;
const ORDERED = /^[A-Za-z_]\w{0,299}( DESC)?$/;

function readSource(value: unknown, problems: string[]): Source {
  if (value === undefined || value === 'events') return EVENTS;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.push('source must be "events" or an object with table, key, id and time');
    return EVENTS;
  }
  const reader = new Reader(
    value as Record<string, unknown>,
    ['table', 'key', 'id', 'time', 'order', 'arrival'],
    'source.',
  );
  const column = (member: string) => reader.text(member, '', COLUMN, 'a column name');
  const source = {
    table: reader.text('table', '', /^[\w.-]+$/, 'a table name'),
    key: column('key'),
    id: column('id'),
    time: column('time'),
    order: reader.columns('order'),
    arrival: reader.text('arrival', null, COLUMN, 'a column name'),
  };
  problems.push(...reader.problems);
  for (const member of ['table', 'key', 'id', 'time'] as const) {
    if (source[member] === '' && !problems.some((p) => p.startsWith(`source.${member} `)))
      problems.push(`source.${member} is missing`);
  }
  return source;
}

/**
 * Settings of the join `name` from its two files.
 *
 * @throws Error that lists every problem
 */
export function parseJoin(
  name: string,
  query: string,
  file: Readonly<Record<string, unknown>>,
  defaults: JoinDefaults,
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
    attributes: reader.columns('attributes'),
  };
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name))
    problems.push(`the folder ${JSON.stringify(name)} must be named with a-z, 0-9 and _`);
  if (settings.query.trim() === '') problems.push('query.sql is empty');
  for (const column of [settings.orderingKey, ...settings.attributes])
    if (column !== null && settings.omit.includes(column))
      problems.push(`omit leaves out ${column}, which the message needs`);
  if (settings.wait > settings.lookback) problems.push('wait must not be longer than lookback');
  if (settings.step <= 0) problems.push('step must be longer than 0s');
  if (settings.lookback < defaults.lookback) problems.push('lookback must not be shorter than JOIN_LOOKBACK');
  if (problems.length > 0)
    throw new Error(`The join ${name} has ${problems.length} problem(s):\n${problems.map((p) => `- ${p}`).join('\n')}`);
  return settings;
}
