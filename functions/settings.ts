import type { Micros } from './core/event.ts';

/**
 * Every setting and its default, in one place. The environment variable is the name; docs/configuration.md lists them,
 * and a test holds the list to this file.
 */

/** How the text of one environment variable becomes a value. `parse` throws an Error that says what is expected. */
export interface Setting<T> {
  readonly env: string;
  /** Default, as text; a setting without one is required. */
  readonly fallback: string | undefined;
  readonly about: string;
  readonly parse: (text: string) => T;
}

const UNITS: Readonly<Record<string, Micros>> = { ms: 1e3, s: 1e6, m: 60e6, h: 3600e6, d: 86_400e6 };

const LONGEST = 36_500 * 86_400e6;

/** `90s`, `10m`, `24h`, `35d`, `500ms`, `0s` -> microseconds. */
function duration(text: string): Micros {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  if (match === null) throw new Error('expected a duration such as 30s, 10m, 24h or 35d');
  const micros = Number(match[1]) * UNITS[match[2]!]!;
  // Added to a time it must still be a time.
  if (micros > LONGEST) throw new Error('expected at most 36500d');
  return micros;
}

const SIZES: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  GB: 1e9,
  TB: 1e12,
};

/** `8MiB`, `10GB`, `1024` -> bytes. */
function bytes(text: string): number {
  const match = /^(\d{1,15})(B|KiB|MiB|GiB|GB|TB)?$/.exec(text);
  if (match === null) throw new Error('expected a size such as 8MiB or 10GB');
  return Number(match[1]) * SIZES[match[2] ?? '']!;
}

function integer(min: number, max: number) {
  return (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (!(value >= min && value <= max)) throw new Error(`expected a whole number from ${min} to ${max}`);
    return value;
  };
}

function matching(pattern: RegExp, expected: string) {
  return (text: string): string => {
    if (!pattern.test(text)) throw new Error(`expected ${expected}`);
    return text;
  };
}

function list(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((item) => item.trim());
}

/** Payload members as JSON pointers (RFC 6901). Each costs a key's document up to 4 KB, hence the limit. */
function pointers(text: string): readonly string[] {
  const items = list(text);
  if (items.length > 20) throw new Error('expected at most 20 JSON pointers');
  if (items.some((item) => !/^(\/([^~/]|~[01])*)+$/.test(item)))
    throw new Error('expected JSON pointers such as /amount,/order/total');
  if (new Set(items).size < items.length) throw new Error('expected each JSON pointer once');
  return items;
}

const HOST = /^((\*\.)?[\w-]+(\.[\w-]+)*|\[[\da-f:.]+\])(:\d+)?$/i;

function hosts(text: string): readonly string[] {
  const items = list(text);
  if (!items.every((item) => HOST.test(item)))
    throw new Error('expected hosts such as api.example.com,*.example.org:8443');
  return items;
}

function nonEmptyList(text: string): readonly string[] {
  const items = list(text);
  if (items.length === 0 || items.some((item) => item === ''))
    throw new Error('expected a list such as completed,finished');
  return items;
}

function oneOf<const T extends string>(...allowed: readonly T[]) {
  return (text: string): T => {
    const found = allowed.find((item) => item === text);
    if (found === undefined) throw new Error(`expected one of ${allowed.join(', ')}`);
    return found;
  };
}

/** Members of an event that a producer may call otherwise. */
export const MEMBERS = [
  'unique_key',
  'event_status',
  'timestamp',
  'event_id',
  'join_key',
  'sequence',
  'payload',
] as const;
export type Member = (typeof MEMBERS)[number];

/** `unique_key=user_id,event_status=action` -> the name of each member in the producers' messages. */
function eventFields(text: string): Readonly<Record<Member, string>> {
  const names = Object.fromEntries(MEMBERS.map((member) => [member, member])) as Record<Member, string>;
  const pairs = list(text).map((pair) => pair.split('='));
  for (const [member, name, ...rest] of pairs) {
    if (!MEMBERS.includes(member as Member) || name === undefined || name === '' || rest.length > 0) {
      throw new Error(`expected member=name pairs; members are ${MEMBERS.join(', ')}`);
    }
    names[member as Member] = name;
  }
  if (new Set(pairs.map(([member]) => member)).size < pairs.length) throw new Error('a member has two names');
  if (new Set(Object.values(names)).size !== MEMBERS.length) throw new Error('two members have the same name');
  return names;
}

function define<T>(env: string, fallback: string | undefined, about: string, parse: (text: string) => T): Setting<T> {
  return { env, fallback, about, parse };
}

const topic = matching(/^[A-Za-z][\w.~+%-]{2,254}$/, 'a topic id');
const host = matching(/^(https?:\/\/)?[\w.-]+:\d+\/?$/, 'host:port');

export const SETTINGS = {
  projectId: define(
    'PROJECT_ID',
    undefined,
    'Google Cloud project',
    matching(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/, 'a project id'),
  ),
  dataset: define('DATASET', 'codaflow', 'BigQuery dataset', matching(/^\w{1,1024}$/, 'a dataset id')),
  location: define(
    'LOCATION',
    'US',
    'Location of the dataset; every job runs there',
    matching(/^[A-Za-z0-9-]+$/, 'a BigQuery location'),
  ),
  database: define(
    'FIRESTORE_DATABASE',
    'codaflow',
    'Firestore database',
    matching(/^(\(default\)|[a-z][a-z0-9-]{2,61}[a-z0-9])$/, 'a database id'),
  ),

  eventsTopic: define('EVENTS_TOPIC', 'events', 'Topic of the events', topic),
  completionsTopic: define('COMPLETIONS_TOPIC', 'completions', 'Topic of the keys that are due', topic),
  summariesTopic: define('SUMMARIES_TOPIC', 'summaries', 'Topic of the summaries', topic),
  deadLettersTopic: define('DEAD_LETTERS_TOPIC', 'dead-letters', 'Topic of the dead letters', topic),
  resultsTopic: define('RESULTS_TOPIC', 'results', 'Topic of the default join', topic),

  eventFields: define(
    'EVENT_FIELDS',
    '',
    'Other names of the members, such as unique_key=user_id,event_status=action',
    eventFields,
  ),
  completionStatuses: define(
    'COMPLETION_STATUSES',
    'completed,finish,finished',
    'Statuses that complete a key; exact match',
    nonEmptyList,
  ),
  summaryFields: define(
    'SUMMARY_FIELDS',
    '',
    'Payload members to aggregate, as JSON pointers such as /amount,/order/total',
    pointers,
  ),
  partitioning: define(
    'EVENTS_PARTITIONING',
    'DAY',
    'Partitions of the table events: DAY or HOUR',
    oneOf('DAY', 'HOUR'),
  ),
  partitionExpiration: define(
    'EVENTS_PARTITION_EXPIRATION',
    '0s',
    'Expiration of the partitions of events; 0s is never. Older events are refused',
    duration,
  ),

  silence: define(
    'SILENCE_DEADLINE',
    '24h',
    'A key without completion expires after this long without an event',
    duration,
  ),
  age: define('AGE_DEADLINE', '30d', 'A key without completion expires this long after its first event', duration),
  grace: define('GRACE', '60s', 'How long a completed key waits for missing sequence numbers', duration),
  settle: define('SETTLE', '30s', 'A correction waits until no event came for this long', duration),
  settleMax: define('SETTLE_MAX', '10m', 'but at most this long after the first uncovered event', duration),
  retention: define(
    'STATE_RETENTION',
    '35d',
    "A key's state is kept this long after its last confirmed summary",
    duration,
  ),
  idsInline: define('IDS_INLINE', '1000', "Event ids kept in the key's own document", integer(0, 5000)),
  stepsKept: define('STEPS_KEPT', '200', 'Steps kept for a summary', integer(0, 10_000)),
  stepsBytes: define('STEPS_BYTES', '48KiB', 'and their bytes', bytes),
  claim: define('CLAIM', '60s', 'How long one instance may take to write a claimed summary', duration),
  shards: define(
    'WAKE_SHARDS',
    '16',
    'Shards of the index of wake-ups; never lower it while keys are open',
    integer(1, 1024),
  ),
  sweepPage: define('SWEEP_PAGE', '100', 'Wake-ups that sweep handles at a time', integer(1, 1000)),

  groupKeys: define('GROUP_KEYS', '20', 'Keys in one transaction', integer(1, 200)),
  groupEvents: define('GROUP_EVENTS', '200', 'Events in one transaction', integer(1, 2000)),
  groupBytes: define('GROUP_BYTES', '8MiB', 'Bytes in one append', bytes),
  groupBudget: define('GROUP_BUDGET', '25s', 'How long a group of requests may take', duration),
  pendingBytes: define('PENDING_BYTES', '64MiB', 'Bytes of waiting requests; more are answered 429', bytes),
  portDeadline: define('PORT_DEADLINE', '10s', 'Deadline of one call of a Google service', duration),
  requestBudget: define(
    'REQUEST_BUDGET',
    '55s',
    'Every request but those of join is answered within this; what does not fit is answered 429 or 503',
    duration,
  ),
  maxAttempts: define(
    'MAX_DELIVERY_ATTEMPTS',
    '100',
    'On this delivery attempt a failing message is dead-lettered with its cause',
    integer(5, 100),
  ),

  joinLag: define('JOIN_LAG', '1m', "A window ends this long before BigQuery's clock", duration),
  joinLookback: define('JOIN_LOOKBACK', '10m', 'A window starts this long before the cursor', duration),
  joinStep: define('JOIN_STEP', '6h', 'Longest step of the cursor', duration),
  joinWait: define('JOIN_WAIT', '10m', 'How long an event waits for its reference row; at most the lookback', duration),
  joinLease: define('JOIN_LEASE', '2m', 'A run that shows no life for this long is taken over', duration),
  joinBudget: define('JOIN_BUDGET', '8m', 'A run stops before its next step after this long', duration),
  joinPage: define('JOIN_PAGE', '1000', 'Rows published between two saves of the progress', integer(1, 10_000)),
  timeTravel: define('TIME_TRAVEL', '7d', 'Time travel of the dataset', duration),
  timeTravelMargin: define('TIME_TRAVEL_MARGIN', '1h', 'Distance kept from the edge of time travel', duration),
  maxBytesBilled: define('MAX_BYTES_BILLED', '10GB', 'Most bytes that one query may bill', bytes),

  region: define('REGION', 'us-central1', 'Region of the task queues', matching(/^[a-z][a-z0-9-]{1,62}$/, 'a region')),
  pollQueue: define(
    'POLL_QUEUE',
    'codaflow-poll',
    'Task queue of the watches',
    matching(/^[A-Za-z0-9-]{1,100}$/, 'a queue id'),
  ),
  pollUrl: define(
    'POLL_URL',
    'https://poll.invalid/',
    "What the tasks of watches call; the queue's own target, where it has one, comes before it",
    matching(/^https?:\/\/\S+$/, 'a URL'),
  ),
  watchSlack: define('WATCH_SLACK', '2m', 'A task of a watch that is this late counts as lost', duration),
  probeHosts: define(
    'PROBE_HOSTS',
    '',
    'Hosts that HTTP probes may call, such as api.example.com,*.example.org:8443',
    hosts,
  ),
  probePrivate: define(
    'PROBE_PRIVATE',
    'false',
    'Whether probes may call private addresses: false or true',
    (text) => oneOf('false', 'true')(text) === 'true',
  ),

  pubsubHost: define('PUBSUB_EMULATOR_HOST', '', 'Pub/Sub emulator', optional(host)),
  firestoreHost: define('FIRESTORE_EMULATOR_HOST', '', 'Firestore emulator', optional(host)),
  bigqueryHost: define('BIGQUERY_EMULATOR_HOST', '', 'BigQuery emulator (REST)', optional(host)),
  bigqueryStorageHost: define(
    'BIGQUERY_STORAGE_EMULATOR_HOST',
    '',
    'BigQuery emulator (Storage Write API, gRPC)',
    optional(host),
  ),
  tasksHost: define('CLOUD_TASKS_EMULATOR_HOST', '', 'Cloud Tasks emulator', optional(host)),
} as const;

function optional<T>(parse: (text: string) => T) {
  return (text: string): T | null => (text === '' ? null : parse(text));
}

export type Config = {
  readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};
