import { withFloatTimestamps, type Cell } from './cells.ts';
import { invalid } from './errors.ts';
import { dmlResource, jobResource, type Job, type JobRecord } from './job.ts';
import type { Field } from './sql/types.ts';

/** An answer holds at most this much of the rows. */
const PAGE_BYTES = 10 * 1000 * 1000;

export interface PageRequest {
  readonly startIndex?: number;
  readonly pageToken?: string;
  readonly maxResults?: number;
  /** TIMESTAMP as int64 microseconds instead of seconds. */
  readonly int64Timestamps: boolean;
}

export interface Page {
  readonly rows: { readonly f: { readonly v: Cell }[] }[];
  readonly pageToken?: string;
}

/** One page of a result that does not change. `what` names the result inside the page token. */
export function page(fields: readonly Field[], rows: readonly Cell[][], what: string, request: PageRequest): Page {
  const start = request.pageToken === undefined ? (request.startIndex ?? 0) : readToken(request.pageToken, what);
  const end = Math.min(rows.length, start + (request.maxResults ?? rows.length));
  const page: Page['rows'] = [];
  let bytes = 0;
  let next = start;
  for (; next < end; next++) {
    const cells = request.int64Timestamps ? rows[next]! : withFloatTimestamps(fields, rows[next]!);
    const row = { f: cells.map((v) => ({ v })) };
    bytes += Buffer.byteLength(JSON.stringify(row));
    // A row that is larger than a page still goes, alone.
    if (bytes > PAGE_BYTES && page.length > 0) break;
    page.push(row);
  }
  return { rows: page, ...(next < rows.length && { pageToken: makeToken(next, what) }) };
}

export function makeToken(index: number, what: string): string {
  return Buffer.from(JSON.stringify([index, what])).toString('base64url');
}

/** @throws BigQueryError invalid when the token is of another result */
export function readToken(token: string, what: string): number {
  try {
    const [index, owner] = JSON.parse(Buffer.from(token, 'base64url').toString()) as [number, string];
    if (owner === what && Number.isSafeInteger(index) && index >= 0) return index;
  } catch {
    // Falls through to the refusal.
  }
  throw invalid('Invalid page token', 'pageToken');
}

/** Answer of `jobs.query` and `jobs.getQueryResults` for a job that is DONE. */
export function resultResource(
  job: Job,
  result: NonNullable<JobRecord['result']>,
  request: PageRequest,
): Record<string, unknown> {
  const { reference, dml, kind, bytes } = job.record;
  const what = `${reference.project}:${reference.id}`;
  const { rows, pageToken } = page(result.fields, result.rows, what, request);
  return {
    jobReference: jobResource(job.record)['jobReference'],
    jobComplete: true,
    cacheHit: false,
    totalBytesProcessed: String(bytes?.processed ?? 0),
    ...(kind === 'select' && { schema: { fields: result.fields }, totalRows: String(result.rows.length) }),
    ...(rows.length > 0 && { rows }),
    ...(pageToken !== undefined && { pageToken }),
    ...(dml && dmlResource(dml)),
  };
}
