import { gunzipSync } from 'node:zlib';

export interface RestRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

const JOBS = /^\/projects\/[^/]+\/(jobs|queries)(?:\/([^/]+))?(?:\/(cancel))?$/;
const TABLE = /^\/projects\/[^/]+\/datasets\/[^/]+\/tables\/([^/]+)$/;

/**
 * The calls in a request to BigQuery's REST API: the method, and for a statement what it reads and writes.
 *
 * @param own ids of the jobs that the caller started; those of this request are added
 */
export function restCalls({ method, path, headers, body }: RestRequest, own: Set<string>): readonly string[] {
  const resource = decodeURIComponent(path.split('?')[0]!).replace(/^\/bigquery\/v2/, '');
  const [, table] = TABLE.exec(resource) ?? [];
  if (table !== undefined && method === 'GET') return [`bigquery.tables.get table ${table}`];
  const [, collection, id, action] = JOBS.exec(resource) ?? [];
  if (collection === undefined) return [`bigquery.${method} ${resource}`];
  if (id === undefined && method === 'POST') {
    const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
    const request = JSON.parse(text) as {
      readonly query?: string;
      readonly jobReference?: { readonly jobId?: string };
      readonly configuration?: { readonly query?: { readonly query: string } };
    };
    const started = request.jobReference?.jobId;
    if (started !== undefined) own.add(started);
    const sql = request.query ?? request.configuration?.query?.query ?? '';
    return [`bigquery.${collection === 'jobs' ? 'jobs.insert' : 'jobs.query'} project`, ...statementCalls(sql)];
  }
  const name = action ?? (collection === 'queries' ? 'getQueryResults' : 'get');
  return [`bigquery.jobs.${name} ${own.has(id ?? '') ? 'own job' : 'project'}`];
}

/** `data.read table T` and `data.write table T`, in the words of nobody's API. */
function statementCalls(sql: string): readonly string[] {
  const [, target] = /^\s*MERGE\s+(?:INTO\s+)?`[\w-]+\.\w+\.(\w+)`/im.exec(sql) ?? [];
  const named = [...sql.matchAll(/`[\w-]+\.\w+\.(\w+)`/g)].map(([, table]) => table!);
  return [
    ...new Set(named.map((table) => `bigquery.read table ${table}`)),
    ...(target === undefined ? [] : [`bigquery.write table ${target}`]),
  ];
}
