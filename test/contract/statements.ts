import { readFileSync } from 'node:fs';
import type { Days } from '../../functions/core/join/days.ts';
import { parseJoin } from '../../functions/core/join/settings.ts';
import { mergeSql, probeSql, readSql, type Reads, type Statement } from '../../functions/core/join/sql.ts';
import type { QueryJob } from '../../functions/ports.ts';
import { DATASET, PROJECT } from '../../local/resources.ts';

/** The product's own statements about its own tables: the ports in memory know them by the label of their step. */

export const TABLES = { source: `${PROJECT}.${DATASET}.events`, ledger: `${PROJECT}.${DATASET}.joined` };
const HOUR = 3600e6;
const DAY = 24 * HOUR;
const SQL = readFileSync(new URL('../../joins/enrich/query.sql', import.meta.url), 'utf8');

const JOIN = parseJoin(
  'enrich',
  SQL.replaceAll('${dataset}', `${PROJECT}.${DATASET}`),
  { order: ['target_attribute'] },
  { topic: 'results', lookback: HOUR / 6, step: 6 * HOUR, lag: HOUR / 60, wait: HOUR / 6, maxBytesBilled: 1e10 },
);

export function job(jobId: string, step: string, { sql, parameters }: Statement): QueryJob {
  const labels = { codaflow_join: 'enrich', codaflow_step: step };
  return { jobId, sql, parameters, labels, timeoutMs: 60_000, maxBytesBilled: 1e10 };
}

const window = (start: number, end: number): Reads => ({ kind: 'window', start, end });
const days = (...times: number[]): Days => ({ days: times.map((time) => Math.floor(time / DAY)), untimed: false });

/** Counts the rows of a window by event day. */
export function probe(id: string, start: number, end: number): QueryJob {
  return job(id, 'probe', probeSql(JOIN, TABLES, window(start, end)));
}

/** Writes the joined rows of a window and of the days of these event times. */
export function merge(id: string, start: number, end: number, runId: string, ...times: number[]): QueryJob {
  return job(id, 'merge', mergeSql(JOIN, TABLES, window(start, end), days(...times), runId));
}

/** Reads what a run wrote. */
export function read(id: string, runId: string, ...times: number[]): QueryJob {
  return job(id, 'read', readSql(TABLES, 'enrich', runId, days(...times), ''));
}
