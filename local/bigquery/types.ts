import type { LocalServer, ServerOptions } from '../shared/server.ts';
import type { CompileContext, Compiled, Field, TableRef } from './sql/types.ts';

/** Epoch microseconds. */
export type Micros = number;

/** Turns one GoogleSQL statement into DuckDB statements. Throws `SqlError`. */
export type Compile = (sql: string, context: CompileContext) => Compiled;

export interface BigQueryOptions extends ServerOptions {
  /** Port of the Storage Write API (gRPC); 0 (the default) takes a free one. */
  readonly grpcPort?: number;
  /** Wall clock in epoch microseconds. */
  readonly clock?: () => Micros;
  /** Project of the in-process helpers; the wire names its own. Default `local`. */
  readonly project?: string;
  /** Location of datasets and jobs that name none. Default `US`. */
  readonly location?: string;
  /** Another compiler than the built-in one. */
  readonly compile?: Compile;
}

/** Value of a query parameter of the in-process `query`: its type is inferred unless it is written out. */
export type ParameterValue =
  string | number | boolean | { readonly type: string; readonly value: string | null | readonly (string | null)[] };

export interface BigQueryServer extends LocalServer {
  /** `127.0.0.1:port` of the Storage Write API (gRPC). */
  readonly grpcAddress: string;
  /**
   * Stores JSON rows as `tabledata.insertAll` takes them. All or none.
   * @param table `dataset.table` or `project.dataset.table`
   * @throws BigQueryError that names the first refused row
   */
  insertRows(table: string, rows: readonly Record<string, unknown>[]): Promise<void>;
  /**
   * Runs one statement. INT64 and FLOAT64 come as numbers, TIMESTAMP as epoch microseconds, BYTES as Buffers, STRUCT as
   * objects, everything else as BigQuery prints it.
   * @throws BigQueryError
   */
  query(sql: string, parameters?: Record<string, ParameterValue>): Promise<Record<string, unknown>[]>;
}

export interface Dataset {
  readonly project: string;
  readonly id: string;
  readonly location: string;
  /** 48 to 168. */
  readonly maxTimeTravelHours: number;
  readonly created: Micros;
  readonly modified: Micros;
  readonly etag: string;
  /** Members of the REST resource that are kept and given back unread, such as `labels`. */
  readonly extra: Record<string, unknown>;
}

export interface Partitioning {
  readonly field: string;
  readonly type: 'HOUR' | 'DAY' | 'MONTH' | 'YEAR';
  readonly expirationMs?: string;
}

export interface StoredTable {
  readonly ref: TableRef;
  readonly kind: 'table' | 'view';
  /** Quoted DuckDB name; '' for a view. */
  readonly duckdb: string;
  readonly fields: readonly Field[];
  readonly partitioning?: Partitioning;
  readonly clustering?: readonly string[];
  /** GoogleSQL of a view. */
  readonly query?: string;
  readonly created: Micros;
  readonly modified: Micros;
  readonly etag: string;
  readonly extra: Record<string, unknown>;
}

export function tableName(ref: TableRef): string {
  return `${ref.project}:${ref.dataset}.${ref.table}`;
}
