import { PermanentError, TransientError, toError } from '../core/errors.ts';
import type { Appended, Table } from '../ports.ts';

/** What became of one row. */
export type AppendFate =
  | { readonly kind: 'recorded' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: Error };

/**
 * Appends rows that have nothing to do with each other: where the whole request is refused, its halves find out which
 * row was to blame. Never rejects.
 */
export async function appendAll<Row>(table: Table<Row>, rows: readonly Row[]): Promise<readonly AppendFate[]> {
  let results: readonly Appended[];
  try {
    results = await table.append(rows);
  } catch (thrown) {
    const error = toError(thrown);
    if (!(error instanceof PermanentError)) return rows.map(() => ({ kind: 'failed', error }));
    if (rows.length === 1) return [{ kind: 'refused', reason: error.message }];
    const middle = Math.ceil(rows.length / 2);
    const first = await appendAll(table, rows.slice(0, middle));
    return [...first, ...(await appendAll(table, rows.slice(middle)))];
  }
  return results.map((result) => {
    if (result.ok) return { kind: 'recorded' };
    if (!UNKNOWN_FIELD.test(result.reason)) return { kind: 'refused', reason: result.reason };
    return { kind: 'failed', error: new TransientError('schema_mismatch', result.reason) };
  });
}

/**
 * After a column was added, BigQuery refuses it for some minutes. No row is at fault then: they are repeated, at most
 * until the last delivery attempt.
 */
const UNKNOWN_FIELD = /no such field|SCHEMA_MISMATCH_EXTRA_FIELD/i;
