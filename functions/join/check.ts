import { locate } from '../core/join/locate.ts';
import { countsSql, mergeSql, probeSql, readSql, shapeSql, type Reads, type Statement } from '../core/join/sql.ts';
import { toError } from '../core/errors.ts';
import type { JoinContext } from './context.ts';

export interface CheckedJoin {
  readonly join: string;
  /** Null when the warehouse accepts every statement; else `joins/NAME/query.sql:LINE: reason`. */
  readonly problem: string | null;
  /** Bytes of the statements of one run over the last lookback. */
  readonly bytes: number;
}

/** Dry-runs every statement that a run of the join sends, for a window and for a scan. Nothing is written or billed. */
export async function checkJoin(context: Pick<JoinContext, 'join' | 'tables'> & CheckPorts): Promise<CheckedJoin> {
  const { join, tables, ports } = context;
  const [clock, created] = await Promise.all([ports.warehouse.now(), ports.warehouse.created(tables.source)]);
  const end = Math.max(clock - join.lag, created);
  const window: Reads = { kind: 'window', start: Math.max(end - join.lookback, created), end };
  const scan: Reads = { kind: 'scan', from: window.start, end };
  const days = { days: [Math.floor(end / 86_400e6)], untimed: true };
  const run = (reads: Reads): readonly Statement[] => [
    probeSql(join, tables, reads),
    mergeSql(join, tables, reads, days, 'check'),
    readSql(tables, join.name, 'check', days, ''),
    countsSql(join, tables, reads, days),
  ];
  // What a run over the window costs counts; the others only have to be accepted.
  const counted = run(window);
  let bytes = 0;
  for (const statement of [...counted, shapeSql(join, tables, window, days), ...run(scan)]) {
    try {
      const estimate = await ports.warehouse.estimate(statement);
      if (counted.includes(statement)) bytes += estimate;
    } catch (error) {
      return { join: join.name, problem: locate(join, statement.sql, toError(error).message), bytes: 0 };
    }
  }
  return { join: join.name, problem: null, bytes };
}

interface CheckPorts {
  readonly ports: Pick<JoinContext['ports'], 'warehouse'>;
}
