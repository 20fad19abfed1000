import { DuckDBTimestampTZValue, type DuckDBConnection, type DuckDBResultReader } from '@duckdb/node-api';
import type { Appends } from './append.ts';
import { countBytes, type Bytes } from './bytes.ts';
import type { Catalog } from './catalog.ts';
import { toCells, type Cell } from './cells.ts';
import type { CommitClock } from './clock.ts';
import { quote, type Database } from './database.ts';
import { BigQueryError } from './errors.ts';
import type { Mutex, MutationQueues } from './lock.ts';
import type { Compiled, Field, Parameter, TableRef } from './sql/types.ts';
import { tableName, type Compile, type Dataset, type StoredTable } from './types.ts';

export interface Statement {
  readonly sql: string;
  readonly project: string;
  readonly defaultDataset?: string;
  readonly parameters: readonly Parameter[];
  readonly maximumBytesBilled?: number;
}

export interface DmlStats {
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
}

export interface Outcome {
  readonly fields: readonly Field[];
  readonly rows: readonly Cell[][];
  readonly bytes: Bytes;
  readonly dml?: DmlStats;
}

export interface Checked {
  readonly compiled: Compiled;
  /** Datasets that the statement names. */
  readonly datasets: readonly Dataset[];
}

export interface RunOptions {
  readonly signal: AbortSignal;
  /** Called in the statement's own transaction, just before it commits. */
  readonly beforeCommit: (connection: DuckDBConnection, outcome: Outcome) => Promise<void>;
}

/** Stands for the commit time of rows that a statement has written and not committed: no clock reaches it. */
const UNCOMMITTED = '9999-12-31 23:59:59.999999+00';
const UNCOMMITTED_MICROS = 253_402_300_799_999_999n;

/**
 * Runs statements. A query reads a snapshot of all tables that is taken at its CURRENT_TIMESTAMP: it sees every commit
 * before that time and none after. Commit times are given out under the same lock, so windows over them are exact.
 */
export class Engine {
  readonly #compile: Compile;
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #appends: Appends;
  readonly #lock: Mutex;
  readonly #mutations: MutationQueues;
  readonly #clock: CommitClock;

  constructor(parts: {
    compile: Compile;
    database: Database;
    catalog: Catalog;
    appends: Appends;
    lock: Mutex;
    mutations: MutationQueues;
    clock: CommitClock;
  }) {
    this.#compile = parts.compile;
    this.#database = parts.database;
    this.#catalog = parts.catalog;
    this.#appends = parts.appends;
    this.#lock = parts.lock;
    this.#mutations = parts.mutations;
    this.#clock = parts.clock;
  }

  /** Compiles a statement for the present moment. */
  check(statement: Statement): Checked {
    const datasets = new Map<string, Dataset>();
    const shortest = (): number => Math.min(168, ...[...datasets.values()].map((one) => one.maxTimeTravelHours));
    const catalog = this.#catalog;
    const compiled = this.#compile(statement.sql, {
      project: statement.project,
      ...(statement.defaultDataset !== undefined && { defaultDataset: statement.defaultDataset }),
      parameters: statement.parameters,
      now: this.#clock.tick(),
      get timeTravel() {
        return shortest() * 3_600_000_000;
      },
      resolve(ref: TableRef) {
        const dataset = catalog.findDataset(ref.project, ref.dataset);
        if (dataset) datasets.set(`${ref.project}:${ref.dataset}`, dataset);
        return catalog.resolve(ref);
      },
    });
    return { compiled, datasets: [...datasets.values()] };
  }

  /** What a statement would read, without running it. */
  async estimate(statement: Statement): Promise<Bytes> {
    return this.#inSnapshot(statement, async (connection, compiled) =>
      countBytes(connection, this.#catalog, compiled.scans),
    );
  }

  /** Rows of a table in the order of their arrival. */
  async readTable(table: StoredTable, start: number, limit: number): Promise<{ rows: Cell[][]; total: number }> {
    const connection = await this.#database.connect();
    try {
      const columns = table.fields.map((field) => quote(field.name)).join(', ') || '_row';
      const counted = await connection.runAndReadAll(`SELECT count(*) FROM ${table.duckdb}`);
      const reader = await connection.runAndReadAll(
        `SELECT ${columns} FROM ${table.duckdb} ORDER BY _row LIMIT ${limit} OFFSET ${start}`,
      );
      const rows = reader.getRows().map((row) => toCells(table.fields, row));
      return { rows, total: Number(counted.getRows()[0]?.[0] ?? 0) };
    } finally {
      this.#database.release(connection);
    }
  }

  async run(statement: Statement, target: TableRef | undefined, options: RunOptions): Promise<Outcome> {
    const execute = async (): Promise<Outcome> => {
      options.signal.throwIfAborted();
      return this.#inSnapshot(statement, (connection, compiled) =>
        this.#execute(connection, compiled, statement.maximumBytesBilled, options),
      );
    };
    return target ? this.#mutations.run(tableName(target), execute) : execute();
  }

  async #inSnapshot<T>(
    statement: Statement,
    work: (connection: DuckDBConnection, compiled: Compiled) => Promise<T>,
  ): Promise<T> {
    const connection = await this.#database.connect();
    try {
      const compiled = await this.#lock.run(async () => {
        const checked = this.check(statement);
        await connection.run('BEGIN');
        // DuckDB takes the snapshot at the first statement that reads.
        await connection.run('SELECT key FROM meta.catalog LIMIT 1');
        return checked.compiled;
      });
      return await work(connection, compiled);
    } finally {
      await connection.run('ROLLBACK').catch(() => undefined);
      this.#database.release(connection);
    }
  }

  async #execute(
    connection: DuckDBConnection,
    compiled: Compiled,
    maximumBytesBilled: number | undefined,
    { signal, beforeCommit }: RunOptions,
  ): Promise<Outcome> {
    // DuckDB forgets an interruption that comes just before a statement starts, so it is repeated.
    let interruption: NodeJS.Timeout | undefined;
    const interrupt = (): void => {
      connection.interrupt();
      interruption = setInterval(() => connection.interrupt(), 20);
    };
    signal.addEventListener('abort', interrupt);
    try {
      const bytes = await countBytes(connection, this.#catalog, compiled.scans);
      if (maximumBytesBilled !== undefined && bytes.billed > maximumBytesBilled) {
        throw new BigQueryError(
          'bytesBilledLimitExceeded',
          `Query exceeded limit for bytes billed: ${maximumBytesBilled}. ${bytes.billed} or higher required.`,
        );
      }
      const { reader, dml } = await this.#runAll(connection, compiled, signal);
      if (compiled.kind === 'select') {
        const rows = reader.getRows().map((row) => toCells(compiled.fields, row));
        const outcome: Outcome = { fields: compiled.fields, rows, bytes };
        await beforeCommit(connection, outcome);
        await connection.run('COMMIT');
        return outcome;
      }
      const outcome: Outcome = { fields: [], rows: [], bytes, dml };
      await this.#lock.run(async () => {
        signal.throwIfAborted();
        if (compiled.target) await this.#stamp(connection, compiled.target);
        await beforeCommit(connection, outcome);
        await connection.run('COMMIT');
      });
      return outcome;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Error && error.constructor === Error) {
        throw new BigQueryError('invalidQuery', error.message, 'query');
      }
      throw error;
    } finally {
      signal.removeEventListener('abort', interrupt);
      clearInterval(interruption);
    }
  }

  /** Runs the statements one after the other; gives the last one's result and what each changed. */
  async #runAll(
    connection: DuckDBConnection,
    { statements, changes }: Compiled,
    signal: AbortSignal,
  ): Promise<{ reader: DuckDBResultReader; dml: DmlStats }> {
    const dml = { inserted: 0, updated: 0, deleted: 0 };
    let reader: DuckDBResultReader | undefined;
    for (const [index, sql] of statements.entries()) {
      signal.throwIfAborted();
      const prepared = await connection.prepare(sql);
      try {
        if (prepared.parameterCount > 0) prepared.bind({ commit: new DuckDBTimestampTZValue(UNCOMMITTED_MICROS) });
        reader = await prepared.runAndReadAll();
      } finally {
        prepared.destroySync();
      }
      const change = changes[index];
      if (change) dml[change] += reader.rowsChanged;
    }
    if (!reader) throw new Error('the compiled statement is empty');
    return { reader, dml };
  }

  /** Gives the rows that a statement wrote their commit time and their place in the order of arrival. */
  async #stamp(connection: DuckDBConnection, target: TableRef): Promise<void> {
    const { duckdb } = this.#catalog.table(target);
    const written = `FROM ${duckdb} WHERE _commit_time = TIMESTAMPTZ '${UNCOMMITTED}'`;
    const reader = await connection.runAndReadAll(`SELECT min(_row), max(_row) ${written}`);
    const [first, last] = reader.getRows()[0] as [bigint | null, bigint | null];
    if (first === null || last === null) return;
    const base = this.#appends.takeRows(Number(last - first) + 1);
    const commit = this.#clock.tick();
    await connection.run(
      `UPDATE ${duckdb} SET _commit_time = make_timestamptz(${commit}), _row = ${base} + (_row - ${first})
       WHERE _commit_time = TIMESTAMPTZ '${UNCOMMITTED}'`,
    );
  }
}
