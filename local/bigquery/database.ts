import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import accessors from '@duckdb/node-api/lib/vectors/dataAccessors.js';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { PRELUDE } from './sql/prelude.ts';
import type { Field } from './sql/types.ts';

// DuckDB's client drops the byte order mark that a text begins with.
Object.assign(accessors, { textDecoder: new TextDecoder('utf-8', { ignoreBOM: true }) });

/** The DuckDB instance: schema `data` holds the rows, schema `meta` what the server knows of itself. */
export class Database {
  readonly #instance: DuckDBInstance;
  readonly #free: DuckDBConnection[] = [];
  readonly persistent: boolean;

  private constructor(instance: DuckDBInstance, persistent: boolean) {
    this.#instance = instance;
    this.persistent = persistent;
  }

  static async open(stateDir?: string): Promise<Database> {
    if (stateDir !== undefined) mkdirSync(stateDir, { recursive: true });
    const file = stateDir === undefined ? ':memory:' : path.join(stateDir, 'bigquery.duckdb');
    const database = new Database(await DuckDBInstance.create(file), stateDir !== undefined);
    const connection = await database.connect();
    for (const statement of PRELUDE) await connection.run(statement);
    await connection.run('CREATE SCHEMA IF NOT EXISTS data');
    await connection.run('CREATE SCHEMA IF NOT EXISTS meta');
    await connection.run('CREATE TABLE IF NOT EXISTS meta.catalog (key VARCHAR PRIMARY KEY, body VARCHAR)');
    await connection.run('CREATE TABLE IF NOT EXISTS meta.jobs (key VARCHAR PRIMARY KEY, body VARCHAR)');
    // Numbers of rows that statements insert until their commit gives the final ones.
    await connection.run('CREATE SEQUENCE IF NOT EXISTS meta.pending_row START 1');
    database.release(connection);
    return database;
  }

  /** A connection for one user at a time; give it back by `release`. */
  async connect(): Promise<DuckDBConnection> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const connection = await this.#instance.connect();
    await connection.run("SET TimeZone = 'UTC'");
    return connection;
  }

  release(connection: DuckDBConnection): void {
    this.#free.push(connection);
  }

  close(): void {
    for (const connection of this.#free.splice(0)) connection.closeSync();
    this.#instance.closeSync();
  }
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

const SCALARS: Record<Exclude<Field['type'], 'RECORD'>, string> = {
  STRING: 'VARCHAR',
  BYTES: 'BLOB',
  INTEGER: 'BIGINT',
  FLOAT: 'DOUBLE',
  NUMERIC: 'DECIMAL(38, 9)',
  BOOLEAN: 'BOOLEAN',
  TIMESTAMP: 'TIMESTAMPTZ',
  DATE: 'DATE',
  TIME: 'TIME',
  DATETIME: 'TIMESTAMP',
  JSON: 'JSON',
};

/** DuckDB type of a column. */
export function duckdbType(field: Field): string {
  const one =
    field.type === 'RECORD'
      ? `STRUCT(${(field.fields ?? []).map((inner) => `${quote(inner.name)} ${duckdbType(inner)}`).join(', ')})`
      : SCALARS[field.type];
  return field.mode === 'REPEATED' ? `${one}[]` : one;
}

/** Definition of a column, `NOT NULL` where BigQuery says REQUIRED. */
export function duckdbColumn(field: Field): string {
  return `${quote(field.name)} ${duckdbType(field)}${field.mode === 'REQUIRED' ? ' NOT NULL' : ''}`;
}
