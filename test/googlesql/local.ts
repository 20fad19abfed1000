import { DuckDBInstance, DuckDBTimestampTZValue, type DuckDBConnection } from '@duckdb/node-api';
import {
  compile,
  PRELUDE,
  type Compiled,
  type CompileContext,
  type Field,
  type Parameter,
  type Relation,
} from '../../local/bigquery/sql/index.ts';
import type { Fixture } from './fixture.ts';
import { schema, view } from './fixture.ts';
import type { Parameters } from './oracle.ts';
import { fromDuckdb, type Value } from './values.ts';

export const NOW = Date.parse('2026-11-29T12:00:00Z') * 1000;
const PROJECT = ['events', 'reference', 'joined', 'summaries'];
const VIEWS = ['events_unique', 'summaries_latest', 'reconciliation'];
const FIELDS: Record<string, Field['type']> = { INT64: 'INTEGER', FLOAT64: 'FLOAT', BOOL: 'BOOLEAN' };
const DUCKDB: Partial<Record<Field['type'], string>> = {
  STRING: 'VARCHAR',
  BYTES: 'BLOB',
  INTEGER: 'BIGINT',
  FLOAT: 'DOUBLE',
  NUMERIC: 'DECIMAL(38, 9)',
  BOOLEAN: 'BOOLEAN',
  TIMESTAMP: 'TIMESTAMPTZ',
  DATE: 'DATE',
  JSON: 'JSON',
};

function duckdbType(field: Field): string {
  const one =
    field.type === 'RECORD'
      ? `STRUCT(${(field.fields ?? []).map((inner) => `"${inner.name}" ${duckdbType(inner)}`).join(', ')})`
      : (DUCKDB[field.type] ?? '');
  return field.mode === 'REPEATED' ? `${one}[]` : one;
}

function toField(name: string, type: string): Field {
  if (type.startsWith('ARRAY<')) return { ...toField(name, type.slice(6, -1)), mode: 'REPEATED' };
  if (type.startsWith('STRUCT<')) {
    const fields = type
      .slice(7, -1)
      .split(', ')
      .map((part) => toField(part.split(' ')[0] ?? '', part.split(' ')[1] ?? ''));
    return { name, type: 'RECORD', fields };
  }
  return { name, type: FIELDS[type] ?? (type as Field['type']) };
}

function literal(field: Field, value: Value): string {
  if (value === null) return field.mode === 'REPEATED' ? '[]' : 'NULL';
  if (field.mode === 'REPEATED')
    return `[${(value as Value[]).map((item) => literal({ ...field, mode: 'NULLABLE' }, item)).join(', ')}]`;
  if (field.type === 'RECORD') {
    const members = value as Record<string, Value>;
    return `{${(field.fields ?? []).map((inner) => `'${inner.name}': ${literal(inner, members[inner.name] ?? null)}`).join(', ')}}`;
  }
  const text = (value as string).replaceAll("'", "''");
  return field.type === 'BYTES' ? `unhex('${text}')` : `CAST('${text}' AS ${DUCKDB[field.type] ?? ''})`;
}

/** The compiler over DuckDB with the fixture's tables. */
export class Local {
  readonly #connection: DuckDBConnection;
  readonly #fields = new Map<string, readonly Field[]>();

  private constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  static async start(fixture: Fixture): Promise<Local> {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    for (const sql of ["SET TimeZone = 'UTC'", 'CREATE SCHEMA data', 'CREATE SEQUENCE rows', ...PRELUDE])
      await connection.run(sql);
    const local = new Local(connection);
    for (const [name, { columns, rows }] of Object.entries(fixture)) {
      const fields = PROJECT.includes(name)
        ? schema(name)
        : Object.entries(columns).map(([column, type]) => toField(column, type));
      local.#fields.set(name, fields);
      const defined = fields.map(
        (field) => `"${field.name}" ${duckdbType(field)}${field.mode === 'REQUIRED' ? ' NOT NULL' : ''}`,
      );
      await connection.run(
        `CREATE TABLE data.${name} (${defined.join(', ')}, _commit_time TIMESTAMPTZ, _row BIGINT DEFAULT nextval('rows'))`,
      );
      for (const row of rows) {
        const values = fields.map((field) => literal(field, row[field.name] ?? null));
        await connection.run(
          `INSERT INTO data.${name} SELECT ${values.join(', ')}, make_timestamptz(${NOW - 3_600_000_000}), nextval('rows')`,
        );
      }
    }
    return local;
  }

  stop(): void {
    this.#connection.closeSync();
  }

  context(parameters: Parameters = {}): CompileContext {
    return {
      project: 'p',
      defaultDataset: 'ds',
      now: NOW,
      timeTravel: 7 * 86_400_000_000,
      parameters: Object.entries(parameters).map(([name, [type, value]]): Parameter => {
        const element = /^ARRAY<(\w+)>$/.exec(type)?.[1];
        return element === undefined ? { name, type, value } : { name, type: 'ARRAY', element, value };
      }),
      resolve: (ref): Relation | undefined => {
        const fields = this.#fields.get(ref.table);
        if (ref.dataset !== 'ds') return undefined;
        if (VIEWS.includes(ref.table)) return { kind: 'view', ref, query: view(ref.table) };
        if (!fields) return undefined;
        const partitioned = ref.table === 'events' || ref.table === 'joined';
        return {
          kind: 'table',
          ref,
          fields,
          duckdb: `data.${ref.table}`,
          created: NOW - 86_400_000_000,
          ...(partitioned && { partitioning: { field: 'event_time', type: 'DAY' as const } }),
        };
      },
    };
  }

  /** Runs a statement and gives its rows in the shared form. */
  async query(sql: string, parameters: Parameters = {}): Promise<unknown[][]> {
    const compiled = compile(sql, this.context(parameters));
    const rows = await this.#run(compiled);
    return rows.map((row) => compiled.fields.map((field, index) => fromDuckdb(field, row[index] ?? null)));
  }

  /** Runs a DML statement, gives the table's rows afterwards, and undoes it. */
  async change(sql: string, parameters: Parameters = {}): Promise<unknown[][]> {
    const compiled = compile(sql, this.context(parameters));
    await this.#connection.run('BEGIN');
    try {
      await this.#run(compiled);
      return await this.query(`SELECT * FROM ds.${compiled.target?.table ?? ''}`);
    } finally {
      await this.#connection.run('ROLLBACK');
    }
  }

  async #run(
    compiled: Compiled,
  ): Promise<Awaited<ReturnType<Awaited<ReturnType<DuckDBConnection['runAndReadAll']>>['getRows']>>> {
    let rows: ReturnType<Awaited<ReturnType<DuckDBConnection['runAndReadAll']>>['getRows']> = [];
    for (const sql of compiled.statements) {
      const prepared = await this.#connection.prepare(sql);
      if (prepared.parameterCount > 0) prepared.bind({ commit: new DuckDBTimestampTZValue(BigInt(NOW)) });
      rows = (await prepared.runAndReadAll()).getRows();
      prepared.destroySync();
    }
    return rows;
  }
}
