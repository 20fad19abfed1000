import { BigQueryError, invalid } from './errors.ts';
import { count, type RestRequest, type Route } from './http.ts';
import { datasetResource } from './resources.ts';
import { makeToken, readToken } from './results.ts';
import type { Services } from './services.ts';
import type { Dataset } from './types.ts';

const DATASET = '/projects/:project/datasets/:dataset';
/** Members that are kept as they come. */
const KEPT = [
  'friendlyName',
  'description',
  'labels',
  'defaultTableExpirationMs',
  'defaultPartitionExpirationMs',
  'access',
];

export function datasetRoutes(services: Services): Route[] {
  const { catalog, faults } = services;
  const route = (
    method: Route['method'],
    path: string,
    name: string,
    work: (request: RestRequest) => object | undefined | Promise<object | undefined>,
  ): Route => ({
    method,
    path,
    handle: (request) =>
      faults.around('bigquery', name, request.params['dataset'] ?? datasetId(request.body), () => work(request)),
  });
  const change = (request: RestRequest): Promise<object> =>
    catalog
      .updateDataset(request.params['project']!, request.params['dataset']!, (dataset) => {
        checkEtag(request, dataset.etag);
        return {
          ...dataset,
          maxTimeTravelHours: timeTravel(request.body['maxTimeTravelHours']) ?? dataset.maxTimeTravelHours,
          extra: mergeKept(dataset.extra, request.body, KEPT),
        };
      })
      .then(datasetResource);
  return [
    route('POST', '/projects/:project/datasets', 'datasets.insert', async ({ params, body }) => {
      const id = datasetId(body);
      if (!/^\w{1,1024}$/.test(id)) throw invalid(`Invalid dataset ID "${id}"`);
      const dataset: Omit<Dataset, 'created' | 'modified' | 'etag'> = {
        project: params['project']!,
        id,
        location: typeof body['location'] === 'string' ? body['location'] : services.location,
        maxTimeTravelHours: timeTravel(body['maxTimeTravelHours']) ?? 168,
        extra: mergeKept({}, body, KEPT),
      };
      return datasetResource(await catalog.createDataset(dataset));
    }),
    route('GET', '/projects/:project/datasets', 'datasets.list', ({ params, query }) => {
      const page = slice(catalog.datasets(params['project']!), `datasets of ${params['project']}`, query);
      return {
        kind: 'bigquery#datasetList',
        datasets: page.items.map(datasetResource),
        ...(page.next !== undefined && { nextPageToken: page.next }),
      };
    }),
    route('GET', DATASET, 'datasets.get', ({ params }) =>
      datasetResource(catalog.dataset(params['project']!, params['dataset']!)),
    ),
    route('PATCH', DATASET, 'datasets.patch', change),
    route('PUT', DATASET, 'datasets.update', change),
    route('DELETE', DATASET, 'datasets.delete', async ({ params, query }) => {
      await catalog.deleteDataset(params['project']!, params['dataset']!, query.get('deleteContents') === 'true');
      return undefined;
    }),
  ];
}

function datasetId(body: Record<string, unknown>): string {
  return (body['datasetReference'] as { datasetId?: string } | undefined)?.datasetId ?? '';
}

function timeTravel(source: unknown): number | undefined {
  const hours = count(source, 'maxTimeTravelHours');
  if (hours !== undefined && (hours < 48 || hours > 168 || hours % 24 !== 0)) {
    throw invalid('maxTimeTravelHours must be between 48 and 168, a multiple of 24');
  }
  return hours;
}

/** Takes the listed members of a body; null removes one. */
export function mergeKept(
  before: Record<string, unknown>,
  body: Record<string, unknown>,
  kept: readonly string[],
): Record<string, unknown> {
  const given = Object.entries(body).filter(([name]) => kept.includes(name));
  return Object.fromEntries(
    Object.entries({ ...before, ...Object.fromEntries(given) }).filter(([, value]) => value !== null),
  );
}

export function checkEtag({ headers }: RestRequest, etag: string): void {
  const wanted = headers['if-match'];
  if (wanted !== undefined && wanted !== '*' && wanted !== etag) {
    throw new BigQueryError('conditionNotMet', 'Precondition check failed.');
  }
}

/** One page of a list, by `maxResults` and `pageToken`. */
export function slice<T>(items: readonly T[], what: string, query: URLSearchParams): { items: T[]; next?: string } {
  const token = query.get('pageToken');
  const start = token === null ? 0 : readToken(token, what);
  const end = start + (count(query.get('maxResults'), 'maxResults') ?? 1000);
  return { items: items.slice(start, end), ...(end < items.length && { next: makeToken(end, what) }) };
}
