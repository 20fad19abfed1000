import { invalid, notFound, BigQueryError } from './errors.ts';
import { duckdbColumn, quote, type Database } from './database.ts';
import type { CommitClock } from './clock.ts';
import type { Mutex } from './lock.ts';
import type { Relation, TableRef } from './sql/types.ts';
import { tableName, type Dataset, type StoredTable } from './types.ts';

interface DatasetEntry {
  dataset: Dataset;
  readonly tables: Map<string, StoredTable>;
}

/** Datasets and tables, in memory and in `meta.catalog`. Every change holds the commit lock. */
export class Catalog {
  readonly #database: Database;
  readonly #lock: Mutex;
  readonly #clock: CommitClock;
  readonly #datasets = new Map<string, DatasetEntry>();
  #nextNumber = 1;

  constructor(database: Database, lock: Mutex, clock: CommitClock) {
    this.#database = database;
    this.#lock = lock;
    this.#clock = clock;
  }

  /** Reads what an earlier process left. */
  async load(): Promise<void> {
    const rows = await this.#read('SELECT body FROM meta.catalog ORDER BY key');
    for (const [body] of rows) {
      const entry = JSON.parse(String(body)) as { dataset: Dataset } | { table: StoredTable };
      if ('dataset' in entry) this.#datasets.set(key(entry.dataset), { dataset: entry.dataset, tables: new Map() });
      else this.#entry(entry.table.ref.project, entry.table.ref.dataset).tables.set(entry.table.ref.table, entry.table);
    }
    const numbers = await this.#read("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'data'");
    this.#nextNumber = 1 + Math.max(0, ...numbers.map(([name]) => Number(String(name).slice(1))));
  }

  datasets(project: string): Dataset[] {
    return [...this.#datasets.values()].map((entry) => entry.dataset).filter((dataset) => dataset.project === project);
  }

  dataset(project: string, id: string): Dataset {
    return this.#entry(project, id).dataset;
  }

  findDataset(project: string, id: string): Dataset | undefined {
    return this.#datasets.get(key({ project, id }))?.dataset;
  }

  tables(project: string, dataset: string): StoredTable[] {
    return [...this.#entry(project, dataset).tables.values()];
  }

  allTables(): StoredTable[] {
    return [...this.#datasets.values()].flatMap((entry) => [...entry.tables.values()]);
  }

  /** @throws BigQueryError notFound */
  table(ref: TableRef): StoredTable {
    const table = this.#entry(ref.project, ref.dataset).tables.get(ref.table);
    if (!table) throw notFound('Table', tableName(ref));
    return table;
  }

  findTable(ref: TableRef): StoredTable | undefined {
    return this.#datasets.get(key({ project: ref.project, id: ref.dataset }))?.tables.get(ref.table);
  }

  resolve(ref: TableRef): Relation | undefined {
    const table = this.findTable(ref);
    if (!table) return undefined;
    if (table.kind === 'view') return { kind: 'view', ref: table.ref, query: table.query ?? '', fields: table.fields };
    const { duckdb, fields, created, partitioning } = table;
    return {
      kind: 'table',
      ref: table.ref,
      duckdb,
      fields,
      created,
      ...(partitioning && { partitioning: { field: partitioning.field, type: partitioning.type } }),
    };
  }

  async createDataset(dataset: Omit<Dataset, 'created' | 'modified' | 'etag'>): Promise<Dataset> {
    return this.#lock.run(async () => {
      if (this.#datasets.has(key(dataset))) {
        throw new BigQueryError('duplicate', `Already Exists: Dataset ${dataset.project}:${dataset.id}`);
      }
      const now = this.#clock.tick();
      const created: Dataset = { ...dataset, created: now, modified: now, etag: String(now) };
      await this.#write([put(datasetKey(created), { dataset: created })]);
      this.#datasets.set(key(created), { dataset: created, tables: new Map() });
      return created;
    });
  }

  async updateDataset(project: string, id: string, change: (dataset: Dataset) => Dataset): Promise<Dataset> {
    return this.#lock.run(async () => {
      const entry = this.#entry(project, id);
      const now = this.#clock.tick();
      const changed: Dataset = { ...change(entry.dataset), modified: now, etag: String(now) };
      await this.#write([put(datasetKey(changed), { dataset: changed })]);
      entry.dataset = changed;
      return changed;
    });
  }

  async deleteDataset(project: string, id: string, contents: boolean): Promise<void> {
    await this.#lock.run(async () => {
      const entry = this.#entry(project, id);
      const tables = [...entry.tables.values()];
      if (tables.length > 0 && !contents) {
        throw new BigQueryError('resourceInUse', `Dataset ${project}:${id} is still in use`);
      }
      await this.#write([...tables.flatMap(drop), remove(datasetKey(entry.dataset))]);
      this.#datasets.delete(key(entry.dataset));
    });
  }

  async createTable(table: Omit<StoredTable, 'duckdb' | 'created' | 'modified' | 'etag'>): Promise<StoredTable> {
    return this.#lock.run(async () => {
      const entry = this.#entry(table.ref.project, table.ref.dataset);
      if (entry.tables.has(table.ref.table)) {
        throw new BigQueryError('duplicate', `Already Exists: Table ${tableName(table.ref)}`);
      }
      const now = this.#clock.tick();
      // Numbered names: BigQuery's are case-sensitive, DuckDB's are not, and a table made anew is another table.
      const duckdb = table.kind === 'table' ? `data.${quote(`t${this.#nextNumber++}`)}` : '';
      const created: StoredTable = { ...table, duckdb, created: now, modified: now, etag: String(now) };
      await this.#write([...(duckdb ? [create(created)] : []), put(tableKey(created), { table: created })]);
      entry.tables.set(table.ref.table, created);
      return created;
    });
  }

  /** `change` gives the table's new shape; columns may be added at the end and REQUIRED may be relaxed. */
  async updateTable(ref: TableRef, change: (table: StoredTable) => StoredTable): Promise<StoredTable> {
    return this.#lock.run(async () => {
      const table = this.table(ref);
      const now = this.#clock.tick();
      const changed: StoredTable = { ...change(table), modified: now, etag: String(now) };
      await this.#write([...(table.duckdb ? alter(table, changed) : []), put(tableKey(changed), { table: changed })]);
      this.#entry(ref.project, ref.dataset).tables.set(ref.table, changed);
      return changed;
    });
  }

  async deleteTable(ref: TableRef): Promise<void> {
    await this.#lock.run(async () => {
      await this.#write(drop(this.table(ref)));
      this.#entry(ref.project, ref.dataset).tables.delete(ref.table);
    });
  }

  #entry(project: string, id: string): DatasetEntry {
    const entry = this.#datasets.get(key({ project, id }));
    if (!entry) throw notFound('Dataset', `${project}:${id}`);
    return entry;
  }

  async #read(sql: string): Promise<unknown[][]> {
    const connection = await this.#database.connect();
    try {
      return (await connection.runAndReadAll(sql)).getRows();
    } finally {
      this.#database.release(connection);
    }
  }

  async #write(statements: readonly Statement[]): Promise<void> {
    const connection = await this.#database.connect();
    try {
      await connection.run('BEGIN');
      for (const { sql, values } of statements) await connection.run(sql, values);
      await connection.run('COMMIT');
    } catch (error) {
      await connection.run('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      this.#database.release(connection);
    }
  }
}

interface Statement {
  readonly sql: string;
  readonly values?: string[];
}

function key(dataset: { readonly project: string; readonly id: string }): string {
  return `${dataset.project}:${dataset.id}`;
}

// Keys sort so that a dataset comes before its tables.
function datasetKey(dataset: Dataset): string {
  return `1:${key(dataset)}`;
}

function tableKey(table: StoredTable): string {
  return `2:${tableName(table.ref)}`;
}

function put(name: string, body: object): Statement {
  return { sql: 'INSERT OR REPLACE INTO meta.catalog VALUES ($1, $2)', values: [name, JSON.stringify(body)] };
}

function remove(name: string): Statement {
  return { sql: 'DELETE FROM meta.catalog WHERE key = $1', values: [name] };
}

function create(table: StoredTable): Statement {
  // The hidden columns come first, so that a column added later stands where the schema has it.
  const hidden = ['_commit_time TIMESTAMPTZ', "_row BIGINT DEFAULT nextval('meta.pending_row')"];
  return { sql: `CREATE TABLE ${table.duckdb} (${[...hidden, ...table.fields.map(duckdbColumn)].join(', ')})` };
}

function drop(table: StoredTable): Statement[] {
  return [...(table.duckdb ? [{ sql: `DROP TABLE ${table.duckdb}` }] : []), remove(tableKey(table))];
}

function alter(from: StoredTable, to: StoredTable): Statement[] {
  const statements: Statement[] = [];
  to.fields.forEach((field, index) => {
    const before = from.fields[index];
    if (!before) statements.push({ sql: `ALTER TABLE ${from.duckdb} ADD COLUMN ${duckdbColumn(field)}` });
    else if (before.name !== field.name || before.type !== field.type) {
      throw invalid(`Provided Schema does not match Table ${tableName(from.ref)}. Field ${before.name} has changed`);
    } else if (before.mode === 'REQUIRED' && field.mode !== 'REQUIRED') {
      statements.push({ sql: `ALTER TABLE ${from.duckdb} ALTER COLUMN ${quote(field.name)} DROP NOT NULL` });
    }
  });
  return statements;
}
