import { BigQueryError, invalid } from './errors.ts';
import { count } from './http.ts';
import type { NewJob } from './jobs.ts';
import { parseParameters } from './parameters.ts';

type Body = Readonly<Record<string, unknown>>;

/** Settings of a query job that would change what it does and are not there. */
const UNSUPPORTED = [
  'destinationTable',
  'tableDefinitions',
  'schemaUpdateOptions',
  'timePartitioning',
  'rangePartitioning',
  'clustering',
  'userDefinedFunctionResources',
  'scriptOptions',
  'createSession',
  'continuous',
  'writeIncrementalResults',
];

export interface QueryRequest {
  readonly job: NewJob;
  readonly dryRun: boolean;
}

/** Reads the body of `jobs.insert`. */
export function readJob(project: string, body: Body): QueryRequest {
  const configuration = (body['configuration'] ?? {}) as Body;
  const kind = ['load', 'copy', 'extract'].find((name) => configuration[name] !== undefined);
  if (kind) throw new BigQueryError('notImplemented', `${kind} jobs are not supported`);
  const query = configuration['query'] as Body | undefined;
  if (!query) throw invalid('The job configuration has no query');
  const reference = (body['jobReference'] ?? {}) as { jobId?: string; location?: string };
  return read(project, query, configuration, { ...configuration }, reference);
}

/** Reads the body of `jobs.query`. */
export function readQuery(project: string, body: Body): QueryRequest {
  const { query, defaultDataset, parameterMode, queryParameters, maximumBytesBilled, labels } = body;
  const kept = { query, useLegacySql: false, defaultDataset, parameterMode, queryParameters, maximumBytesBilled };
  const location = typeof body['location'] === 'string' ? body['location'] : undefined;
  return read(
    project,
    body,
    body,
    { query: kept, ...(labels !== undefined && { labels }) },
    location ? { location } : {},
  );
}

/** `query` holds the settings of the query, `outer` those of the job, which `jobs.query` does not keep apart. */
function read(
  project: string,
  query: Body,
  outer: Body,
  configuration: Record<string, unknown>,
  reference: { jobId?: string; location?: string },
): QueryRequest {
  const unsupported = UNSUPPORTED.find((name) => query[name] !== undefined && query[name] !== false);
  if (unsupported) throw new BigQueryError('notImplemented', `${unsupported} is not supported`);
  if (query['useLegacySql'] === true) throw new BigQueryError('notImplemented', 'Legacy SQL is not supported');
  const sql = query['query'];
  if (typeof sql !== 'string' || sql.trim() === '') throw invalid('Required parameter is missing: query', 'query');
  const dataset = query['defaultDataset'] as { datasetId?: string; projectId?: string } | undefined;
  const maximumBytesBilled = count(query['maximumBytesBilled'], 'maximumBytesBilled');
  const timeoutMs = count(outer['jobTimeoutMs'], 'jobTimeoutMs');
  const defaultDataset = dataset?.datasetId;
  return {
    job: {
      project,
      ...(reference.jobId !== undefined && { id: reference.jobId }),
      ...(reference.location && { location: reference.location }),
      configuration,
      statement: {
        sql,
        project,
        ...(defaultDataset !== undefined && {
          defaultDataset:
            dataset?.projectId && dataset.projectId !== project
              ? `${dataset.projectId}.${defaultDataset}`
              : defaultDataset,
        }),
        parameters: parseParameters(query['queryParameters'], query['parameterMode']),
        // Zero is the proto's way to say that there is no bound.
        ...(maximumBytesBilled && { maximumBytesBilled }),
      },
      ...(timeoutMs && { timeoutMs }),
    },
    dryRun: outer['dryRun'] === true,
  };
}
