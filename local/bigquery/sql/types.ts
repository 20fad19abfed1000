/** The contract between the BigQuery server and its SQL compiler. */

export type FieldType =
  | 'STRING'
  | 'BYTES'
  | 'INTEGER'
  | 'FLOAT'
  | 'NUMERIC'
  | 'BOOLEAN'
  | 'TIMESTAMP'
  | 'DATE'
  | 'TIME'
  | 'DATETIME'
  | 'JSON'
  | 'RECORD';

/** A column, in the shape of the REST API's TableFieldSchema. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly mode?: 'NULLABLE' | 'REQUIRED' | 'REPEATED';
  readonly fields?: readonly Field[];
  readonly description?: string;
}

export interface TableRef {
  readonly project: string;
  readonly dataset: string;
  readonly table: string;
}

/** What a name in a FROM clause stands for. */
export type Relation =
  | {
      readonly kind: 'table';
      readonly ref: TableRef;
      /** Quoted DuckDB name of the stored table. Beside `fields` it has the hidden columns `_commit_time` (TIMESTAMPTZ) and `_row` (BIGINT, unique, in order of arrival). */
      readonly duckdb: string;
      readonly fields: readonly Field[];
      readonly created: number;
      /** When an UPDATE, DELETE or MERGE last changed stored rows, epoch microseconds; reading AS OF before it is refused. */
      readonly mutated?: number;
      readonly partitioning?: { readonly field: string; readonly type: 'HOUR' | 'DAY' | 'MONTH' | 'YEAR' };
    }
  | { readonly kind: 'view'; readonly ref: TableRef; readonly query: string; readonly fields?: readonly Field[] };

/** A query parameter as BigQuery types it; ARRAY has `element`. Values stay in their REST text form. */
export interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly element?: string;
  readonly value: string | null | readonly (string | null)[];
}

export interface CompileContext {
  readonly project: string;
  readonly defaultDataset?: string;
  readonly parameters: readonly Parameter[];
  /** The statement's CURRENT_TIMESTAMP, epoch microseconds. */
  readonly now: number;
  /** How far back APPENDS may start, in microseconds (time travel). */
  readonly timeTravel: number;
  readonly resolve: (ref: TableRef) => Relation | undefined;
}

/** One scan of a stored table, for the bytes meter: whole columns of every partition that constant predicates do not prune. */
export interface Scan {
  readonly ref: TableRef;
  readonly columns: readonly string[];
  /** Half-open ranges of the partitioning column in epoch microseconds that constant predicates leave; absent = all. */
  readonly partitions?: readonly { readonly from: number; readonly to: number }[];
  /** Whether rows with a NULL partitioning column are read too. */
  readonly nullPartition?: boolean;
  /** Commit-time window when the scan is APPENDS, epoch microseconds, half-open. */
  readonly appends?: { readonly from: number; readonly to: number };
}

/** What the affected rows of a statement count as. */
export type Change = 'inserted' | 'updated' | 'deleted';

export interface Compiled {
  readonly kind: 'select' | 'insert' | 'update' | 'delete' | 'merge';
  /**
   * DuckDB statements to run one after the other inside one transaction, on one connection whose TimeZone is UTC. Values
   * are inlined as typed literals. For DML the `_commit_time` of new rows is the named parameter `$commit`; `_row` takes
   * its default. The last statement of a `select` yields the rows.
   */
  readonly statements: readonly string[];
  /** For each statement, what the rows it changes count as. */
  readonly changes: readonly (Change | undefined)[];
  /** Output columns of a `select`. */
  readonly fields: readonly Field[];
  readonly target?: TableRef;
  readonly scans: readonly Scan[];
}

/** A refused statement, with BigQuery's reason (`invalidQuery`, `notFound`) and a message that says where and why. */
export class SqlError extends Error {
  readonly reason: string;
  constructor(message: string, reason = 'invalidQuery') {
    super(message);
    this.name = 'SqlError';
    this.reason = reason;
  }
}
