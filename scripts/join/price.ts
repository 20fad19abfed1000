import { daysOf, steps, type Backfill } from '../../functions/core/join/backfill.ts';
import { locate } from '../../functions/core/join/locate.ts';
import { countsSql, mergeSql, readSql } from '../../functions/core/join/sql.ts';
import { toError } from '../../functions/core/errors.ts';
import type { JoinContext } from '../../functions/join/context.ts';

export interface BackfillPrice {
  readonly steps: number;
  /** Bytes of all steps, by dry runs; the ledger is counted whole for the days, so it is an upper bound. */
  readonly bytes: number;
  /** What of it is billed: at least 10 MB for each table of a statement, counted with one reference table. */
  readonly billed: number;
  /** The dearest single statement. */
  readonly largest: number;
}

const MINIMUM = 10 * 2 ** 20;

/** @throws Error that names the file and line when BigQuery refuses a statement */
export async function priceBackfill({ join, tables, ports }: JoinContext, backfill: Backfill): Promise<BackfillPrice> {
  const ranges = steps(backfill, await ports.warehouse.now());
  let [bytes, billed, largest] = [0, 0, 0];
  for (const range of ranges) {
    const days = daysOf(range);
    for (const [statement, read] of [
      [mergeSql(join, tables, range, days, 'price'), 3],
      [readSql(tables, join.name, 'price', days, ''), 1],
      [countsSql(join, tables, range, days), 2],
    ] as const) {
      const one = await ports.warehouse.estimate(statement).catch((error: unknown) => {
        throw new Error(locate(join, statement.sql, toError(error).message), { cause: error });
      });
      bytes += one;
      billed += Math.max(one, read * MINIMUM);
      largest = Math.max(largest, one);
    }
  }
  return { steps: ranges.length, bytes, billed, largest };
}
