import { DuckDBDateValue, DuckDBTimestampTZValue, DuckDBTimestampValue, type DuckDBValue } from '@duckdb/node-api';
import type { Meter } from '../shared/meter.ts';
import type { Appends } from './append.ts';
import type { CommitClock } from './clock.ts';
import { BigQueryError, invalid, type ErrorProto } from './errors.ts';
import { jsonRow } from './json-rows.ts';
import { outsideStreamingRange } from './timestamps.ts';
import { tableName, type Micros, type StoredTable } from './types.ts';
import { ValueError } from './values.ts';

const MAX_ROWS = 50_000;
/** How long an insertId is remembered. */
const DEDUPE: Micros = 60_000_000;

export interface InsertRow {
  readonly insertId?: string;
  readonly json?: Record<string, unknown>;
}

export interface InsertOptions {
  readonly skipInvalidRows?: boolean;
  readonly ignoreUnknownValues?: boolean;
}

export interface InsertError {
  readonly index: number;
  readonly errors: readonly (ErrorProto & { readonly debugInfo: string })[];
}

/** `tabledata.insertAll`, and what it has in common with the Storage Write API. */
export class Streaming {
  readonly #appends: Appends;
  readonly #clock: CommitClock;
  readonly #meter: Meter;
  readonly #insertIds = new Map<string, Micros>();

  constructor(appends: Appends, clock: CommitClock, meter: Meter) {
    this.#appends = appends;
    this.#clock = clock;
    this.#meter = meter;
  }

  /** @throws ValueError when the row belongs to a partition that takes no streamed rows */
  checkPartition(table: StoredTable, row: readonly DuckDBValue[]): void {
    if (!table.partitioning) return;
    const { field } = table.partitioning;
    const value = row[table.fields.findIndex((one) => one.name === field)];
    const micros =
      value instanceof DuckDBTimestampTZValue || value instanceof DuckDBTimestampValue
        ? Number(value.micros)
        : value instanceof DuckDBDateValue
          ? value.days * 86_400_000_000
          : undefined;
    const outside = micros === undefined ? undefined : outsideStreamingRange(micros, this.#clock.now());
    if (outside !== undefined) throw new ValueError(field, `Value of partitioning column ${field}: ${outside}`);
  }

  /**
   * Stores JSON rows. Unless `skipInvalidRows` is set, one bad row keeps out all of them.
   * @returns the rows that were refused
   */
  async insert(table: StoredTable, rows: readonly InsertRow[], options: InsertOptions): Promise<InsertError[]> {
    if (table.kind === 'view') throw invalid(`Cannot add rows to a table of type VIEW: ${tableName(table.ref)}`);
    if (rows.length === 0) throw invalid('No rows present in the request.');
    if (rows.length > MAX_ROWS) {
      throw invalid(`too many rows present in the request, limit: ${MAX_ROWS} row count: ${rows.length}.`);
    }
    this.#meter.add('bigquery.insert_all_requests');
    const errors: InsertError[] = [];
    const good: { index: number; values: DuckDBValue[]; insertId: string | undefined }[] = [];
    rows.forEach((row, index) => {
      try {
        const values = jsonRow(table.fields, row.json ?? {}, options.ignoreUnknownValues ?? false);
        this.checkPartition(table, values);
        good.push({ index, values, insertId: row.insertId });
      } catch (error) {
        if (!(error instanceof ValueError)) throw error;
        errors.push(refusal(index, 'invalid', error.message, error.field));
      }
    });
    if (errors.length > 0 && !options.skipInvalidRows) {
      errors.push(...good.map(({ index }) => refusal(index, 'stopped', '', '')));
      return errors.sort((a, b) => a.index - b.index);
    }
    const fresh = good.filter(({ insertId }) => this.#isNew(table, insertId));
    if (fresh.length > 0) {
      try {
        await this.#appends.append(
          table,
          fresh.map(({ values }) => values),
        );
      } catch (error) {
        for (const { insertId } of fresh) this.#insertIds.delete(`${table.duckdb}:${insertId}`);
        throw error;
      }
    }
    return errors;
  }

  /** Remembers an insertId for a minute; false when it is known already. */
  #isNew(table: StoredTable, insertId: string | undefined): boolean {
    if (insertId === undefined || insertId === '') return true;
    const now = this.#clock.now();
    for (const [known, time] of this.#insertIds) {
      if (now - time < DEDUPE) break;
      this.#insertIds.delete(known);
    }
    const name = `${table.duckdb}:${insertId}`;
    if (this.#insertIds.has(name)) return false;
    this.#insertIds.set(name, now);
    return true;
  }
}

function refusal(index: number, reason: string, message: string, location: string): InsertError {
  return { index, errors: [{ reason, message, location, debugInfo: '' }] };
}

/** The first refused row as one error, for callers that take all or nothing. */
export function firstError(errors: readonly InsertError[]): BigQueryError | undefined {
  const found = errors.find(({ errors: [first] }) => first?.reason === 'invalid');
  return found && invalid(`row ${found.index}: ${found.errors[0]!.message}`, found.errors[0]!.location);
}
