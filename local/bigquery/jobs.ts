import type { DuckDBConnection } from '@duckdb/node-api';
import { randomUUID } from 'node:crypto';
import type { Meter } from '../shared/meter.ts';
import type { CommitClock } from './clock.ts';
import type { Database } from './database.ts';
import type { Checked, Engine, Statement } from './engine.ts';
import { BigQueryError, invalid, notFound, toBigQueryError } from './errors.ts';
import { Job, type JobRecord } from './job.ts';
import type { Micros } from './types.ts';

/** How long the result of a query can be read. */
const RESULT_LIFE: Micros = 24 * 3_600_000_000;
/** How long a `requestId` of `jobs.query` finds its first job. */
const REQUEST_LIFE: Micros = 15 * 60_000_000;

export interface NewJob {
  readonly project: string;
  readonly id?: string;
  readonly location?: string;
  readonly configuration: Record<string, unknown>;
  readonly statement: Statement;
  readonly timeoutMs?: number;
}

/** Query jobs: each id once, each result a snapshot that is kept for a day. */
export class Jobs {
  readonly #database: Database;
  readonly #engine: Engine;
  readonly #clock: CommitClock;
  readonly #meter: Meter;
  readonly #location: string;
  readonly #jobs = new Map<string, Job>();
  readonly #requests = new Map<string, { job: Job; created: Micros }>();

  constructor(database: Database, engine: Engine, clock: CommitClock, meter: Meter, location: string) {
    this.#database = database;
    this.#engine = engine;
    this.#clock = clock;
    this.#meter = meter;
    this.#location = location;
  }

  /** Reads what an earlier process left; what it had not finished has failed. */
  async load(): Promise<void> {
    const connection = await this.#database.connect();
    const reader = await connection.runAndReadAll('SELECT body FROM meta.jobs');
    this.#database.release(connection);
    const records = reader.getRows().map(([body]) => JSON.parse(String(body)) as JobRecord);
    for (const record of records.sort((a, b) => a.created - b.created)) {
      const job = new Job(record, { sql: '', project: record.reference.project, parameters: [] });
      if (!job.isDone)
        job.record = job.fail(new BigQueryError('backendError', 'The job was lost in a restart'), this.#clock.now());
      this.#jobs.set(key(record.reference.project, record.reference.id), job);
    }
  }

  /**
   * Starts a job. A statement that does not compile leaves a failed job and is thrown.
   * @throws BigQueryError duplicate when the id has been used
   */
  async insert(request: NewJob): Promise<Job> {
    const id = request.id ?? `job_${randomUUID()}`;
    if (!/^[A-Za-z0-9_-]{1,1024}$/.test(id)) throw invalid(`Invalid job ID "${id}"`);
    const name = key(request.project, id);
    const existing = this.#jobs.get(name);
    if (existing) {
      throw new BigQueryError(
        'duplicate',
        `Already Exists: Job ${request.project}:${existing.record.reference.location}.${id}`,
      );
    }
    const checked = this.#check(request);
    const location =
      request.location ??
      (checked instanceof BigQueryError ? undefined : checked.datasets[0]?.location) ??
      this.#location;
    const record: JobRecord = {
      reference: { project: request.project, id, location },
      configuration: request.configuration,
      created: this.#clock.now(),
      ...(!(checked instanceof BigQueryError) && { kind: checked.compiled.kind }),
    };
    const job = new Job(record, request.statement);
    this.#jobs.set(name, job);
    this.#meter.add('bigquery.query_jobs');
    if (checked instanceof BigQueryError) {
      job.record = job.fail(checked, this.#clock.now());
      await this.#save(job.record);
      throw checked;
    }
    // Until it is on record a job may not run: after a crash its id has to be known.
    await this.#save(record);
    job.done = this.#run(job, checked, request.timeoutMs);
    return job;
  }

  /** The job of an earlier `jobs.query` with the same request id, or a new one. */
  async insertOnce(requestId: string | undefined, request: NewJob): Promise<Job> {
    if (requestId === undefined) return this.insert(request);
    const name = key(request.project, requestId);
    const known = this.#requests.get(name);
    if (known && this.#clock.now() - known.created < REQUEST_LIFE) return known.job;
    const job = await this.insert(request);
    this.#requests.set(name, { job, created: this.#clock.now() });
    return job;
  }

  /** @throws BigQueryError notFound, also when the job ran in another location */
  get(project: string, id: string, location: string | null | undefined): Job {
    const job = this.#jobs.get(key(project, id));
    // Without a location BigQuery finds only the jobs of its two multi-regions.
    const wanted = location ? [location.toLowerCase()] : ['us', 'eu'];
    if (!job || !wanted.includes(job.record.reference.location.toLowerCase()))
      throw notFound('Job', `${project}:${id}`);
    return job;
  }

  /** Newest first. */
  list(project: string): Job[] {
    const jobs = [...this.#jobs.values()].filter((job) => job.record.reference.project === project);
    return jobs.sort((a, b) => b.record.created - a.record.created);
  }

  cancel(job: Job): void {
    if (!job.isDone)
      job.abort.abort(new BigQueryError('stopped', 'Job execution was cancelled: User requested cancellation'));
  }

  /**
   * The rows of a job that is DONE.
   * @throws BigQueryError the job's own error, or notFound when the result has expired
   */
  result(job: Job): NonNullable<JobRecord['result']> {
    const { error, result, ended, reference } = job.record;
    if (error) throw new BigQueryError(error.reason, error.message, error.location);
    if (!result || this.#clock.now() - (ended ?? 0) > RESULT_LIFE) {
      throw new BigQueryError(
        'notFound',
        `Not found: results of job ${reference.project}:${reference.id} have expired`,
      );
    }
    return result;
  }

  /** Ends what is running. */
  async stop(): Promise<void> {
    const running = [...this.#jobs.values()].filter((job) => !job.isDone);
    for (const job of running) this.cancel(job);
    await Promise.all(running.map((job) => job.done));
  }

  #check(request: NewJob): Checked | BigQueryError {
    try {
      const checked = this.#engine.check(request.statement);
      const location = request.location ?? checked.datasets[0]?.location;
      const elsewhere = checked.datasets.find((one) => one.location.toLowerCase() !== location?.toLowerCase());
      if (elsewhere) throw notFound('Dataset', `${elsewhere.project}:${elsewhere.id}`, location);
      return checked;
    } catch (error) {
      return toBigQueryError(error);
    }
  }

  async #run(job: Job, { compiled }: Checked, timeoutMs: number | undefined): Promise<void> {
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.#timeOut(job), timeoutMs);
    let finished: JobRecord | undefined;
    try {
      const target = compiled.kind === 'select' ? undefined : compiled.target;
      const outcome = await this.#engine.run(job.statement, target, {
        signal: job.abort.signal,
        beforeCommit: async (connection, result) => {
          finished = job.succeed(result, this.#clock.now());
          await this.#save(finished, connection);
        },
      });
      this.#meter.add('bigquery.bytes_processed', outcome.bytes.processed);
      this.#meter.add('bigquery.bytes_billed', outcome.bytes.billed);
      job.record = finished!;
    } catch (error) {
      const failed = job.fail(error, this.#clock.now());
      await this.#save(failed).catch(() => undefined);
      job.record = failed;
    } finally {
      clearTimeout(timer);
      this.#expire();
    }
  }

  #timeOut(job: Job): void {
    if (!job.isDone) job.abort.abort(new BigQueryError('timeout', 'Job execution was cancelled: Job timed out'));
  }

  /** Lets go of results and request ids that can no longer be asked for. */
  #expire(): void {
    const now = this.#clock.now();
    for (const [name, request] of this.#requests) {
      if (now - request.created < REQUEST_LIFE) break;
      this.#requests.delete(name);
    }
    for (const job of this.#jobs.values()) {
      if (now - job.record.created <= RESULT_LIFE) break;
      const { result: _, ...rest } = job.record;
      if (job.isDone && now - (job.record.ended ?? now) > RESULT_LIFE) job.record = rest;
    }
  }

  async #save(record: JobRecord, transaction?: DuckDBConnection): Promise<void> {
    if (!this.#database.persistent) return;
    const connection = transaction ?? (await this.#database.connect());
    try {
      const name = key(record.reference.project, record.reference.id);
      await connection.run('INSERT OR REPLACE INTO meta.jobs VALUES ($1, $2)', [name, JSON.stringify(record)]);
    } finally {
      if (!transaction) this.#database.release(connection);
    }
  }
}

function key(project: string, id: string): string {
  return `${project}:${id}`;
}
