import type { BigQuery } from '@google-cloud/bigquery';
import { DATASET, LOCATION } from '../resources.ts';

/** A row as the export shows it: TIMESTAMPs as RFC 3339 with microseconds, INT64 as numbers where safe. */
export type Row = Readonly<Record<string, unknown>>;

export const VIEWS = {
  events_unique: `SELECT * FROM ${DATASET}.events_unique ORDER BY event_time, unique_key, event_id`,
  summaries_latest: `SELECT * FROM ${DATASET}.summaries_latest ORDER BY unique_key`,
  joined: `SELECT * FROM ${DATASET}.joined ORDER BY event_time, unique_key, event_id, result_id`,
  dead_letters: `SELECT * FROM ${DATASET}.dead_letters ORDER BY publish_time, message_id`,
} as const;

export type Output = Readonly<Record<keyof typeof VIEWS, readonly Row[]>>;

/** Everything that came out, through the real client. */
export async function observe(bigquery: BigQuery): Promise<Output> {
  const output: Partial<Record<keyof typeof VIEWS, readonly Row[]>> = {};
  for (const name of Object.keys(VIEWS) as (keyof typeof VIEWS)[]) output[name] = await select(bigquery, VIEWS[name]);
  return output as Output;
}

/** Rows of events that came over HTTP: Pub/Sub gives each of its messages a time. */
export async function writtenOverHttp(bigquery: BigQuery): Promise<Row[]> {
  return select(bigquery, `SELECT * FROM ${DATASET}.events WHERE publish_time IS NULL`);
}

export async function count(bigquery: BigQuery, table: string): Promise<number> {
  const [row] = await select(bigquery, `SELECT COUNT(*) AS n FROM ${DATASET}.${table}`);
  return Number(row?.['n']);
}

/** Rows of a query with values as JSON can hold them. */
export async function select(bigquery: BigQuery, query: string): Promise<Row[]> {
  const [rows] = (await bigquery.query({
    query,
    location: LOCATION,
    defaultDataset: { datasetId: DATASET },
    wrapIntegers: true,
  })) as [Record<string, unknown>[], ...unknown[]];
  return rows.map((row) => plain(row) as Row);
}

/** The client wraps times and big integers in objects of its own. */
function plain(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Buffer.isBuffer(value)) return value.toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  const { type, value: inner } = value as { type?: unknown; value?: unknown };
  if (type === 'BigQueryInt') {
    const number = Number(inner);
    return Number.isSafeInteger(number) ? number : inner;
  }
  if (value.constructor !== Object && typeof inner === 'string') {
    return value.constructor.name === 'BigQueryTimestamp' ? microseconds(inner) : inner;
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]));
}

/** `2015-01-01T09:45:00.5Z` -> `2015-01-01T09:45:00.500000Z`. */
function microseconds(text: string): string {
  const [, seconds, fraction = ''] = /^(.{19})(?:\.(\d+))?Z$/.exec(text) ?? [];
  return seconds === undefined ? text : `${seconds}.${fraction.padEnd(6, '0').slice(0, 6)}Z`;
}
