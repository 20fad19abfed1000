import { AmbiguousError, PermanentError, toError, TransientError } from '../core/errors.ts';
import type { JobState, QueryJob, QueryParameter, ResultPage, Warehouse } from '../ports.ts';
import { createBigQuery } from './bigquery-client.ts';
import { getLarge } from './bigquery-get.ts';
import type { AdapterContext } from './runtime.ts';

/** Failures after which the same statement may succeed; a stopped or timed out job is not among them. */
const CURABLE = new Set(['backendError', 'internalError', 'jobBackendError', 'jobInternalError', 'rateLimitExceeded', 'jobRateLimitExceeded', 'quotaExceeded', 'notFound', 'accessDenied', 'tableUnavailable']); // prettier-ignore

interface JobResource {
  readonly status?: {
    readonly state?: string;
    readonly errorResult?: { readonly reason?: string; readonly message?: string };
  };
  readonly statistics?: {
    readonly totalBytesProcessed?: string;
    readonly query?: { readonly totalBytesBilled?: string; readonly dmlStats?: { readonly insertedRowCount?: string } };
  };
}

interface QueryResults {
  readonly jobComplete?: boolean;
  readonly schema?: { readonly fields?: readonly { readonly name: string }[] };
  readonly rows?: readonly { readonly f: readonly { readonly v: string | null }[] }[];
  readonly pageToken?: string;
}

interface HttpError {
  readonly code?: number | string;
  readonly errors?: readonly { readonly reason?: string }[];
}

function parameter(name: string, { type, value }: QueryParameter): object {
  const text = value === null ? null : type === 'TIMESTAMP' ? timestampText(Number(value)) : String(value);
  return { name, parameterType: { type }, parameterValue: { value: text } };
}

function queryConfiguration(query: string, parameters: QueryJob['parameters']): object {
  const queryParameters = Object.entries(parameters).map(([name, value]) => parameter(name, value));
  return { query, useLegacySql: false, parameterMode: 'NAMED', queryParameters };
}

/** Epoch microseconds as BigQuery takes a TIMESTAMP parameter. */
function timestampText(micros: number): string {
  const seconds = Math.floor(micros / 1e6);
  const fraction = String(micros - seconds * 1e6).padStart(6, '0');
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}.${fraction}+00:00`;
}

/** Query jobs of BigQuery through its REST API. */
export function createWarehouse({ config, clock }: AdapterContext): Warehouse {
  const client = createBigQuery(config);
  // The client's repeats of a stream fail, and not where it could be caught.
  const streaming = createBigQuery(config, { autoRetry: false });
  const { location } = config;

  /** One REST call. */
  function call<T>(
    method: 'GET' | 'POST',
    uri: string,
    options: { qs?: object; json?: object },
    ms?: number,
  ): Promise<T> {
    const answer = new Promise<T>((resolve, reject) => {
      client.request({ method, uri, ...options }, (error: Error | null, body: unknown) => {
        if (error === null) resolve(body as T);
        else reject(error);
      });
    });
    return within(answer, `${method} ${uri}`, ms);
  }

  /** The answer of a call within `ms`. The effect of a call that failed without an HTTP status is unknown. */
  async function within<T>(answer: Promise<T>, what: string, ms = config.portDeadline / 1000): Promise<T> {
    const deadline = new AbortController();
    const late = clock.sleep(ms, deadline.signal).then(() => {
      throw new AmbiguousError(`${what} took longer than ${ms} ms`);
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      deadline.abort();
      late.catch(() => undefined);
      answer.catch(() => undefined);
    }
  }

  /** A GET with a large answer; what may pass is asked for again by the client in its usual way, which repeats. */
  async function getPage(uri: string, qs: object): Promise<QueryResults> {
    try {
      return await getLarge<QueryResults>(streaming, uri, qs);
    } catch (error) {
      const code = status(error);
      if (code < 500 && code !== 408 && code !== 429) throw error;
      return call<QueryResults>('GET', uri, { qs });
    }
  }

  const status = (error: unknown) => Number((error as HttpError).code);
  const reason = (error: unknown) => (error as HttpError).errors?.[0]?.reason;

  /** The kind of a failed call. */
  function classify(thrown: unknown, what: string): Error {
    const error = toError(thrown);
    if (error instanceof AmbiguousError) return error;
    const code = status(error);
    if (code === 429 || (code === 403 && /rateLimit|quota/i.test(reason(error) ?? '')))
      return new TransientError('overloaded', `${what}: ${error.message}`, error);
    // What is missing or forbidden may be there or allowed at the next attempt; a deployment often needs a moment. Some
    // failures of BigQuery itself come with the status 400.
    const curable = code === 400 && CURABLE.has(reason(error) ?? '');
    if (curable || code === 401 || code === 403 || code === 404)
      return new TransientError('unavailable', `${what}: ${error.message}`, error);
    if (code >= 400 && code < 500) return new PermanentError('statement_refused', `${what}: ${error.message}`, error);
    return new AmbiguousError(`${what}: ${error.message}`, error);
  }

  async function getJob(id: string): Promise<JobState> {
    try {
      return jobState(await call<JobResource>('GET', `/jobs/${id}`, { qs: { location } }));
    } catch (error) {
      if (status(error) === 404) return { state: 'absent' };
      throw classify(error, `state of job ${id}`);
    }
  }

  return {
    async now() {
      try {
        const answer = await call<QueryResults>('POST', '/queries', {
          json: {
            query: 'SELECT UNIX_MICROS(CURRENT_TIMESTAMP()) AS now',
            useLegacySql: false,
            location,
            timeoutMs: 9000,
            labels: { codaflow_step: 'clock' },
            maximumBytesBilled: String(config.maxBytesBilled),
          },
        });
        const text = answer.rows?.[0]?.f[0]?.v;
        if (text == null) throw new TransientError('not_ready', "BigQuery's clock did not answer in time");
        return Number(text);
      } catch (error) {
        throw error instanceof TransientError ? error : classify(error, "BigQuery's clock");
      }
    },

    async created(table) {
      const [project, dataset, name] = table.split('.');
      try {
        const answer = await call<{ creationTime: string }>(
          'GET',
          // Absolute: the client puts its own project before everything else.
          `${client.baseUrl}/projects/${project}/datasets/${dataset}/tables/${name}`,
          { qs: { fields: 'creationTime' } },
        );
        return Number(answer.creationTime) * 1000;
      } catch (error) {
        throw classify(error, `table ${table}`);
      }
    },

    async start(job: QueryJob) {
      const json = {
        jobReference: { projectId: config.projectId, jobId: job.jobId, location },
        configuration: {
          labels: job.labels,
          jobTimeoutMs: String(job.timeoutMs),
          query: {
            ...queryConfiguration(job.sql, job.parameters),
            maximumBytesBilled: String(job.maxBytesBilled),
          },
        },
      };
      try {
        await call('POST', '/jobs', { json });
        return 'started';
      } catch (error) {
        if (status(error) === 409) return 'exists';
        throw classify(error, `job ${job.jobId}`);
      }
    },

    async estimate({ sql, parameters }) {
      const json = {
        jobReference: { projectId: config.projectId, location },
        configuration: { dryRun: true, query: queryConfiguration(sql, parameters) },
      };
      try {
        const job = await call<JobResource>('POST', '/jobs', { json });
        return Number(job.statistics?.totalBytesProcessed ?? 0);
      } catch (error) {
        throw classify(error, 'dry run');
      }
    },

    state: getJob,

    async wait(id, ms) {
      try {
        const qs = { location, maxResults: 0, timeoutMs: ms };
        const answer = await call<QueryResults>('GET', `/queries/${id}`, { qs }, ms + config.portDeadline / 1000);
        if (answer.jobComplete !== true) return { state: 'running' };
      } catch (error) {
        // A failed job is reported as a failed call; its own state tells the reason.
        if (error instanceof AmbiguousError) throw error;
      }
      return getJob(id);
    },

    async cancel(id) {
      try {
        await call('POST', `/jobs/${id}/cancel`, { qs: { location } });
      } catch (error) {
        if (status(error) !== 404) throw classify(error, `cancelling job ${id}`);
      }
    },

    async page(id, token, maxRows): Promise<ResultPage | null> {
      const qs = {
        location,
        maxResults: maxRows,
        timeoutMs: 0,
        'formatOptions.useInt64Timestamp': true,
        ...(token === null ? {} : { pageToken: token }),
      };
      let answer: QueryResults;
      try {
        answer = await within(getPage(`/queries/${id}`, qs), `page of job ${id}`);
      } catch (error) {
        const code = status(error);
        if (code === 404 || code === 410) return null;
        throw classify(error, `result of job ${id}`);
      }
      if (answer.jobComplete === false) throw new TransientError('not_ready', `job ${id} still runs`);
      const names = (answer.schema?.fields ?? []).map((field) => field.name);
      const rows = (answer.rows ?? []).map(({ f: cells }) => {
        const row: Record<string, string | null> = {};
        for (let i = 0; i < names.length; i++) row[names[i]!] = cells[i]!.v;
        return row;
      });
      return { rows, next: answer.pageToken ?? null };
    },
  };
}

function jobState(job: JobResource): JobState {
  if (job.status?.state !== 'DONE') return { state: 'running' };
  const failure = job.status.errorResult;
  if (failure !== undefined) {
    const reason = failure.reason ?? 'unknown';
    return { state: 'failed', reason, message: failure.message ?? reason, curable: CURABLE.has(reason) };
  }
  return {
    state: 'done',
    bytesProcessed: Number(job.statistics?.totalBytesProcessed ?? 0),
    bytesBilled: Number(job.statistics?.query?.totalBytesBilled ?? 0),
    insertedRows: Number(job.statistics?.query?.dmlStats?.insertedRowCount ?? 0),
  };
}
