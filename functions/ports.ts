import type { EventRow, Micros, SummaryRow } from './core/event.ts';
import type { JobProgress, ProbeAnswer } from './core/watch/judge.ts';
import type { BigQueryJobProbe, HttpProbe } from './core/watch/spec.ts';

/**
 * Everything with an effect. Adapters for Google Cloud are in gcp/, in-memory ones with the same semantics in test/.
 *
 * Every call has a deadline of its own (the adapter's); it rejects with
 * - `TransientError` when the effect surely did not happen,
 * - `AmbiguousError` when it may have happened,
 * - `PermanentError` when repeating cannot help.
 */

export interface Clock {
  now(): Micros;
  /** Resolves after this many milliseconds. Only for lease renewal and deadlines, never to wait for something to be done. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  /** 128 random bits as 32 hexadecimal digits. */
  random(): string;
}

/** A value that the document store holds; numbers that are integers are stored as integers. */
export type Value =
  null | boolean | number | string | Uint8Array | readonly Value[] | { readonly [name: string]: Value };
export type Document = { readonly [field: string]: Value };

/** Documents under slash-separated paths (`sequences/{id}`, `sequences/{id}/ids/{id}`) with serializable transactions. */
export interface Store {
  /**
   * Runs `work` once in a transaction and commits what it wrote, atomically.
   * Rejects with TransientError `contention` when another transaction interfered (nothing was written): the caller
   * decides about repeating; and with AmbiguousError when the answer of the commit was lost.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** A single document outside any transaction. */
  get(path: string): Promise<Document | null>;
  /** Documents of `collection` with `shard == shard` and `wake_at <= before`, by (wake_at, id), at most `limit`, after the cursor. */
  due(query: DueQuery): Promise<readonly { readonly path: string; readonly document: Document }[]>;
  /** How many documents of `collection` have a `wake_at`; counts no further than `atMost`. */
  waiting(collection: string, atMost: number): Promise<number>;
}

export interface DueQuery {
  readonly collection: string;
  readonly shard: number;
  readonly before: Micros;
  readonly limit: number;
  readonly after?: { readonly wakeAt: Micros; readonly path: string };
}

export interface Transaction {
  /** Documents in the order of the paths; null where there is none. All reads come before the first write. */
  get(paths: readonly string[]): Promise<readonly (Document | null)[]>;
  /** Replaces the whole document. */
  set(path: string, document: Document): void;
  delete(path: string): void;
}

/** Fate of one appended row, in the order of the rows. */
export type Appended = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** An append-only table: a row that is `ok` is durable and visible to the next query. Repeats give repeated rows. */
export interface Table<Row> {
  /** Appends all good rows; a refused row never takes its neighbours with it. */
  append(rows: readonly Row[]): Promise<readonly Appended[]>;
}

export interface Message {
  readonly data: string | Uint8Array;
  readonly attributes: Readonly<Record<string, string>>;
  readonly orderingKey?: string;
}

export interface Bus {
  /**
   * Publishes every message to a topic (by its configured name) and waits for all of them. Result in the order of the
   * messages: the message id, or the error of that message (AmbiguousError when its outcome is unknown).
   */
  publish(topic: TopicName, messages: readonly Message[]): Promise<readonly (string | Error)[]>;
}

/** The roles a topic can have; configuration maps them to resource names. A join's output is named by the join's own settings. */
export type TopicName = 'events' | 'completions' | 'summaries' | 'deadLetters' | 'results' | { readonly name: string };

export interface QueryParameter {
  readonly type: 'STRING' | 'INT64' | 'FLOAT64' | 'BOOL' | 'TIMESTAMP';
  /** TIMESTAMP values are epoch microseconds. */
  readonly value: string | number | boolean | null;
}

export interface QueryJob {
  /** Caller-chosen, letters, digits, `_` and `-`; makes the job's creation idempotent. */
  readonly jobId: string;
  readonly sql: string;
  readonly parameters: Readonly<Record<string, QueryParameter>>;
  readonly labels: Readonly<Record<string, string>>;
  /** The job is stopped by the warehouse after this long. */
  readonly timeoutMs: number;
  /** The job fails before it runs when it would bill more. */
  readonly maxBytesBilled: number;
}

export type JobState =
  | { readonly state: 'absent' }
  | { readonly state: 'running' }
  | {
      readonly state: 'done';
      readonly bytesProcessed: number;
      readonly bytesBilled: number;
      readonly insertedRows: number;
    }
  /** `curable` = the same statement may succeed later (quota, backend, timeout). */
  | { readonly state: 'failed'; readonly reason: string; readonly message: string; readonly curable: boolean };

/** One page of a finished job's result snapshot: cells as text, INT64 and TIMESTAMP (micros) as digits. */
export interface ResultPage {
  readonly rows: readonly Readonly<Record<string, string | null>>[];
  readonly next: string | null;
}

/** Query jobs, by caller-chosen ids. */
export interface Warehouse {
  /** The warehouse's own clock. */
  now(): Promise<Micros>;
  /** When a table (`project.dataset.table`) was created. */
  created(table: string): Promise<Micros>;
  /** Creates the job; `exists` when the id was used before (attach to that job). Never waits for the job. */
  start(job: QueryJob): Promise<'started' | 'exists'>;
  /** Bytes that a statement would process, from a dry run. PermanentError with the warehouse's own words when it refuses it. */
  estimate(statement: Pick<QueryJob, 'sql' | 'parameters'>): Promise<number>;
  state(jobId: string): Promise<JobState>;
  /** Waits up to `ms` for the job to end; still running is an answer, not an error. */
  wait(jobId: string, ms: number): Promise<JobState>;
  cancel(jobId: string): Promise<void>;
  /** A page of a finished job's rows; null when the result has expired. TransientError `not_ready` while it runs. */
  page(jobId: string, token: string | null, maxRows: number): Promise<ResultPage | null>;
}

export interface Task {
  /** The role of its queue; configuration maps it to a resource name and to what it calls. */
  readonly queue: 'poll';
  /** Letters, digits, `_` and `-`, at most 500, evenly spread. */
  readonly name: string;
  /** Not before this moment, at most 30 days ahead; null is at once. */
  readonly scheduleTime: Micros | null;
  /** JSON text. */
  readonly body: string;
}

/** Requests to ourselves, later: delivered at least once, late or, though accepted, never. */
export interface Tasks {
  /** `exists` when a task of this name exists or did so recently. */
  create(task: Task): Promise<'created' | 'exists'>;
}

/** Looks at what a watch waits for. PermanentError `invalid_watch` when it may not be looked at. */
export interface Probes {
  http(probe: HttpProbe): Promise<ProbeAnswer>;
  job(probe: BigQueryJobProbe): Promise<JobProgress>;
}

/** What all handlers are made of. */
export interface Ports {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: Store;
  readonly bus: Bus;
  readonly events: Table<EventRow>;
  readonly summaries: Table<SummaryRow>;
  readonly warehouse: Warehouse;
  readonly tasks: Tasks;
  readonly probes: Probes;
}
