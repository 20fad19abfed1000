import { invalid, notFound } from './errors.ts';
import { count, type RestRequest, type Route } from './http.ts';
import { jobResource, type Job } from './job.ts';
import type { NewJob } from './jobs.ts';
import { readJob, readQuery } from './query-requests.ts';
import { resultResource, type PageRequest } from './results.ts';
import { slice } from './routes-datasets.ts';
import type { Services } from './services.ts';

const JOB = '/projects/:project/jobs/:job';
/** How long an answer waits for the job to end unless the caller says. */
const WAIT_MS = 10_000;
const MAX_WAIT_MS = 200_000;

export function jobRoutes(services: Services): Route[] {
  const { faults, jobs } = services;
  const around = (name: string, resource: string, work: () => Promise<object>): Promise<object> =>
    faults.around('bigquery', name, resource, work);
  const find = ({ params, query }: RestRequest): Job =>
    jobs.get(params['project']!, params['job']!, query.get('location'));
  return [
    {
      method: 'POST',
      path: '/projects/:project/jobs',
      handle: ({ params, body }) => {
        const reference = body['jobReference'] as { jobId?: string } | undefined;
        return around('jobs.insert', reference?.jobId ?? '', async () => {
          const { job, dryRun } = readJob(params['project']!, body);
          if (dryRun) return estimate(services, job);
          return jobResource((await jobs.insert(job)).record);
        });
      },
    },
    {
      method: 'GET',
      path: '/projects/:project/jobs',
      handle: ({ params, query }) =>
        around('jobs.list', '', async () => {
          const states = query.getAll('stateFilter').map((state) => state.toUpperCase());
          const all = jobs.list(params['project']!).map((job) => jobResource(job.record));
          const wanted = all.filter(
            ({ status }) => states.length === 0 || states.includes((status as { state: string }).state),
          );
          const { items, next } = slice(wanted, `jobs of ${params['project']}`, query);
          return { kind: 'bigquery#jobList', jobs: items, ...(next !== undefined && { nextPageToken: next }) };
        }),
    },
    {
      method: 'GET',
      path: JOB,
      handle: (request) => around('jobs.get', request.params['job']!, async () => jobResource(find(request).record)),
    },
    {
      method: 'POST',
      path: `${JOB}/cancel`,
      handle: (request) =>
        around('jobs.cancel', request.params['job']!, async () => {
          const job = find(request);
          jobs.cancel(job);
          return { kind: 'bigquery#jobCancelResponse', job: jobResource(job.record) };
        }),
    },
    {
      method: 'POST',
      path: '/projects/:project/queries',
      handle: ({ params, body }) =>
        around('jobs.query', '', async () => {
          const { job: request, dryRun } = readQuery(params['project']!, body);
          if (dryRun) return estimate(services, request);
          const requestId = typeof body['requestId'] === 'string' ? body['requestId'] : undefined;
          const job = await jobs.insertOnce(requestId, request);
          const format = (body['formatOptions'] ?? {}) as {
            useInt64Timestamp?: boolean;
            timestampOutputFormat?: string;
          };
          const maxResults = count(body['maxResults'], 'maxResults');
          const answer = await results(services, job, count(body['timeoutMs'], 'timeoutMs'), {
            ...(maxResults !== undefined && { maxResults }),
            int64Timestamps: int64(format.useInt64Timestamp === true, format.timestampOutputFormat),
          });
          return { kind: 'bigquery#queryResponse', ...answer };
        }),
    },
    {
      method: 'GET',
      path: '/projects/:project/queries/:job',
      handle: (request) =>
        around('jobs.getQueryResults', request.params['job']!, async () => {
          const { query } = request;
          const answer = await results(
            services,
            find(request),
            count(query.get('timeoutMs'), 'timeoutMs'),
            readPage(query),
          );
          return { kind: 'bigquery#getQueryResultsResponse', ...answer };
        }),
    },
  ];
}

function readPage(query: URLSearchParams): PageRequest {
  const startIndex = count(query.get('startIndex'), 'startIndex');
  const maxResults = count(query.get('maxResults'), 'maxResults');
  const pageToken = query.get('pageToken');
  return {
    ...(startIndex !== undefined && { startIndex }),
    ...(maxResults !== undefined && { maxResults }),
    ...(pageToken && { pageToken }),
    int64Timestamps: int64(
      query.get('formatOptions.useInt64Timestamp') === 'true',
      query.get('formatOptions.timestampOutputFormat') ?? undefined,
    ),
  };
}

function int64(flag: boolean, format: string | undefined): boolean {
  if (format !== undefined && !['INT64', 'FLOAT64', 'TIMESTAMP_OUTPUT_FORMAT_UNSPECIFIED'].includes(format)) {
    throw invalid(`timestampOutputFormat ${format} is not supported`);
  }
  return flag || format === 'INT64';
}

async function results(
  services: Services,
  job: Job,
  timeoutMs: number | undefined,
  request: PageRequest,
): Promise<object> {
  if (!job.isDone) await within(job.done, Math.min(timeoutMs ?? WAIT_MS, MAX_WAIT_MS));
  if (!job.isDone) return { jobReference: jobResource(job.record)['jobReference'], jobComplete: false };
  return resultResource(job, services.jobs.result(job), request);
}

async function within(done: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([done, late]);
  clearTimeout(timer);
}

/** Answer to a dry run: a job that is not kept. */
async function estimate({ engine, clock, location }: Services, request: NewJob): Promise<object> {
  const { compiled, datasets } = engine.check(request.statement);
  const place = request.location ?? datasets[0]?.location ?? location;
  const elsewhere = datasets.find((one) => one.location.toLowerCase() !== place.toLowerCase());
  if (elsewhere) throw notFound('Dataset', `${elsewhere.project}:${elsewhere.id}`, place);
  const bytes = await engine.estimate(request.statement);
  const now = clock.now();
  const resource = jobResource({
    reference: { project: request.project, id: request.id ?? '', location: place },
    configuration: { ...request.configuration, dryRun: true },
    kind: compiled.kind,
    created: now,
    ended: now,
    bytes,
  });
  const statistics = resource['statistics'] as { query: object };
  return {
    ...resource,
    jobComplete: true,
    totalBytesProcessed: String(bytes.processed),
    schema: { fields: compiled.fields },
    statistics: { ...statistics, query: { ...statistics.query, schema: { fields: compiled.fields } } },
  };
}
