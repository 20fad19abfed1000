import type { DuckDBConnection } from '@duckdb/node-api';
import { quote } from './database.ts';
import type { Catalog } from './catalog.ts';
import type { Field, Scan } from './sql/types.ts';
import { tableName, type Micros, type Partitioning } from './types.ts';

/** Every table that a query refers to is billed as at least this much. */
export const MINIMUM_BILLED = 10 * 1024 * 1024;
/** Billed bytes are rounded up to this. */
const UNIT = 1024 * 1024;

export interface Bytes {
  readonly processed: number;
  readonly billed: number;
}

/** Size of a value of a fixed width, by type. */
const WIDTHS: Partial<Record<Field['type'], number>> = {
  INTEGER: 8,
  FLOAT: 8,
  TIMESTAMP: 8,
  DATE: 8,
  TIME: 8,
  DATETIME: 8,
  NUMERIC: 16,
  BOOLEAN: 1,
};

/** What the scans read: whole columns of every partition that is left, and of the window where there is one. */
export async function countBytes(
  connection: DuckDBConnection,
  catalog: Catalog,
  scans: readonly Scan[],
): Promise<Bytes> {
  let processed = 0;
  const perTable = new Map<string, number>();
  for (const scan of scans) {
    const bytes = await scanBytes(connection, catalog, scan);
    processed += bytes;
    perTable.set(tableName(scan.ref), (perTable.get(tableName(scan.ref)) ?? 0) + bytes);
  }
  const billed = [...perTable.values()].reduce((sum, bytes) => sum + Math.max(MINIMUM_BILLED, roundUp(bytes)), 0);
  return { processed, billed };
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / UNIT) * UNIT;
}

async function scanBytes(connection: DuckDBConnection, catalog: Catalog, scan: Scan): Promise<number> {
  const table = catalog.table(scan.ref);
  const read = new Set(scan.columns.map((column) => column.toLowerCase()));
  const sizes = table.fields.filter((field) => read.has(field.name.toLowerCase())).map((field) => columnSize(field));
  if (sizes.length === 0) return 0;
  const conditions = [
    ...(scan.partitions && table.partitioning ? [partitionFilter(scan, table.partitioning, table.fields)] : []),
    ...(scan.appends ? [`_commit_time >= ${time(scan.appends.from)} AND _commit_time < ${time(scan.appends.to)}`] : []),
  ];
  const where = conditions.length > 0 ? ` WHERE ${conditions.map((one) => `(${one})`).join(' AND ')}` : '';
  const sql = `SELECT CAST(coalesce(sum(${sizes.join(' + ')}), 0) AS DOUBLE) FROM ${table.duckdb}${where}`;
  const rows = (await connection.runAndReadAll(sql)).getRows();
  return Number(rows[0]?.[0] ?? 0);
}

function columnSize(field: Field): string {
  return size({ ...field, mode: field.mode ?? 'NULLABLE' }, quote(field.name), 0);
}

/** Expression for the logical size of a value in bytes; NULL counts 0. */
function size(field: Field, value: string, depth: number): string {
  if (field.mode === 'REPEATED') {
    const item = `x${depth}`;
    const inner = size({ ...field, mode: 'NULLABLE' }, item, depth + 1);
    return `coalesce(list_sum(list_transform(${value}, lambda ${item}: ${inner})), 0)`;
  }
  if (field.type === 'RECORD') {
    const parts = (field.fields ?? []).map((inner) => size(inner, `${value}.${quote(inner.name)}`, depth));
    return parts.length > 0 ? `(${parts.join(' + ')})` : '0';
  }
  const width = WIDTHS[field.type];
  if (width !== undefined) return `CASE WHEN ${value} IS NULL THEN 0 ELSE ${width} END`;
  const length = field.type === 'BYTES' ? `octet_length(${value})` : `strlen(CAST(${value} AS VARCHAR))`;
  return `coalesce(2 + ${length}, 0)`;
}

/** Rows of the partitions that the scan's ranges touch. */
function partitionFilter(scan: Scan, partitioning: Partitioning, fields: readonly Field[]): string {
  const column = quote(partitioning.field);
  const type = fields.find((field) => field.name === partitioning.field)?.type;
  const bound = (micros: Micros): string => {
    if (type === 'DATE') return `CAST(make_timestamp(${micros}) AS DATE)`;
    return type === 'DATETIME' ? `make_timestamp(${micros})` : time(micros);
  };
  const ranges = (scan.partitions ?? []).map(({ from, to }) => {
    const first = clamp(partitionStart(from, partitioning.type));
    const end = clamp(partitionEnd(to, partitioning.type));
    return `(${column} >= ${bound(first)} AND ${column} < ${bound(end)})`;
  });
  if (scan.nullPartition) ranges.push(`${column} IS NULL`);
  return ranges.length > 0 ? ranges.join(' OR ') : 'FALSE';
}

function time(micros: Micros): string {
  return `make_timestamptz(${micros})`;
}

/** 0001-01-01 and 10000-01-01 in milliseconds. */
const FIRST = -62_135_596_800_000;
const LAST = 253_402_300_800_000;

function clamp(micros: Micros): Micros {
  return Math.round(Math.min(Math.max(micros, FIRST * 1000), LAST * 1000));
}

/** Start of the partition that holds a time. */
export function partitionStart(micros: Micros, type: Partitioning['type']): Micros {
  if (!Number.isFinite(micros) || Math.abs(micros) > LAST * 1000) return micros;
  if (type === 'HOUR') return Math.floor(micros / 3_600_000_000) * 3_600_000_000;
  if (type === 'DAY') return Math.floor(micros / 86_400_000_000) * 86_400_000_000;
  const date = new Date(Math.floor(micros / 1000));
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), type === 'MONTH' ? date.getUTCMonth() : 0, 1);
  return start.getTime() * 1000;
}

/** End of the last partition that a range with this exclusive end touches. */
export function partitionEnd(to: Micros, type: Partitioning['type']): Micros {
  const start = partitionStart(to, type);
  if (start === to || !Number.isFinite(to) || Math.abs(to) > LAST * 1000) return to;
  if (type === 'HOUR') return start + 3_600_000_000;
  if (type === 'DAY') return start + 86_400_000_000;
  const next = new Date(start / 1000);
  if (type === 'MONTH') next.setUTCMonth(next.getUTCMonth() + 1);
  else next.setUTCFullYear(next.getUTCFullYear() + 1);
  return next.getTime() * 1000;
}
