import { DuckDBTimestampTZValue, type DuckDBAppender, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api';
import type { Catalog } from './catalog.ts';
import type { CommitClock } from './clock.ts';
import type { Database } from './database.ts';
import { notFound } from './errors.ts';
import type { Mutex } from './lock.ts';
import { tableName, type Micros, type StoredTable } from './types.ts';

interface Pending {
  readonly table: StoredTable;
  readonly rows: readonly (readonly DuckDBValue[])[];
  readonly resolve: (commit: Micros) => void;
  readonly reject: (error: unknown) => void;
}

/** From here on DuckDB's appender would write a part of the rows on its own before the rest is there. */
const APPENDER_BOUND = 100_000;

/**
 * Appends of streamed rows. Requests that wait at the same moment go to DuckDB together; each is one append with a
 * commit time of its own, and is acknowledged when DuckDB holds it.
 */
export class Appends {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #lock: Mutex;
  readonly #clock: CommitClock;
  readonly #appenders = new Map<string, { appender: DuckDBAppender; etag: string }>();
  #pending: Pending[] = [];
  #connection: DuckDBConnection | undefined;
  #nextRow = 1;

  constructor(database: Database, catalog: Catalog, lock: Mutex, clock: CommitClock) {
    this.#database = database;
    this.#catalog = catalog;
    this.#lock = lock;
    this.#clock = clock;
  }

  /** Rows up to `row` have been numbered by an earlier process. */
  advance(row: number): void {
    this.#nextRow = Math.max(this.#nextRow, row + 1);
  }

  /** Takes `count` row numbers and returns the first; only under the commit lock. */
  takeRows(count: number): number {
    const first = this.#nextRow;
    this.#nextRow += count;
    return first;
  }

  /** Stores all rows or none; values in the order of `table.fields`. Resolves to the commit time. */
  append(table: StoredTable, rows: readonly (readonly DuckDBValue[])[]): Promise<Micros> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ table, rows, resolve, reject });
      if (this.#pending.length > 1) return;
      // What else arrives in this turn of the event loop, or while the lock is held, goes along.
      setImmediate(() => {
        this.#lock.run(() => this.#flush()).catch(reject);
      });
    });
  }

  /** Settles when everything that was handed in is stored or refused. */
  async idle(): Promise<void> {
    while (this.#pending.length > 0) await new Promise((resolve) => setImmediate(resolve));
    await this.#lock.run(async () => undefined);
  }

  close(): void {
    for (const duckdb of [...this.#appenders.keys()]) this.#discard(duckdb);
    this.#connection?.closeSync();
    this.#connection = undefined;
  }

  async #flush(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    for (const [duckdb, group] of Map.groupBy(pending, (one) => one.table.duckdb)) {
      const current = this.#catalog.findTable(group[0]!.table.ref);
      try {
        // The table may have gone, or have been made anew, since the rows were checked.
        if (current?.duckdb !== duckdb) throw notFound('Table', tableName(group[0]!.table.ref));
        const commits = await this.#write(current, group);
        group.forEach((one, index) => one.resolve(commits[index]!));
      } catch (error) {
        this.#discard(duckdb);
        for (const one of group) one.reject(error);
      }
    }
  }

  async #write(table: StoredTable, group: readonly Pending[]): Promise<Micros[]> {
    const connection = (this.#connection ??= await this.#database.connect());
    const appender = await this.#appender(connection, table);
    const types = Array.from({ length: appender.columnCount }, (_, index) => appender.columnType(index));
    const large = group.reduce((sum, one) => sum + one.rows.length, 0) > APPENDER_BOUND;
    if (large) await connection.run('BEGIN');
    try {
      const commits = group.map((one) => {
        const commit = this.#clock.tick();
        const time = new DuckDBTimestampTZValue(BigInt(commit));
        for (const row of one.rows) {
          appender.appendTimestampTZ(time);
          appender.appendBigInt(BigInt(this.#nextRow++));
          for (let index = 2; index < types.length; index++) appender.appendValue(row[index - 2] ?? null, types[index]);
          appender.endRow();
        }
        return commit;
      });
      appender.flushSync();
      if (large) await connection.run('COMMIT');
      return commits;
    } catch (error) {
      if (large) await connection.run('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  async #appender(connection: DuckDBConnection, table: StoredTable): Promise<DuckDBAppender> {
    const cached = this.#appenders.get(table.duckdb);
    if (cached?.etag === table.etag) return cached.appender;
    this.#discard(table.duckdb);
    const name = table.duckdb.replace(/^data\."(.*)"$/, '$1');
    const appender = await connection.createAppender(name, 'data');
    this.#appenders.set(table.duckdb, { appender, etag: table.etag });
    return appender;
  }

  /** Forgets an appender and what it holds that is not written. */
  #discard(duckdb: string): void {
    const cached = this.#appenders.get(duckdb);
    this.#appenders.delete(duckdb);
    try {
      cached?.appender.clear();
      cached?.appender.closeSync();
    } catch {
      // An appender that failed, or whose table is gone, cannot be closed in good order.
    }
  }
}
