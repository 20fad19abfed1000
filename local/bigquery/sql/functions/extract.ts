import type { Expr } from '../ast.ts';
import { fail, refuse, type Scope } from '../scope.ts';
import { typeName, type Typed } from '../typing.ts';

const DATE_PARTS: Record<string, (value: string) => string> = {
  YEAR: (v) => `year(${v})`,
  ISOYEAR: (v) => `isoyear(${v})`,
  QUARTER: (v) => `quarter(${v})`,
  MONTH: (v) => `month(${v})`,
  ISOWEEK: (v) => `week(${v})`,
  DAY: (v) => `day(${v})`,
  DAYOFWEEK: (v) => `(dayofweek(${v}) + 1)`,
  DAYOFYEAR: (v) => `dayofyear(${v})`,
};
const TIME_PARTS: Record<string, (value: string) => string> = {
  HOUR: (v) => `hour(${v})`,
  MINUTE: (v) => `minute(${v})`,
  SECOND: (v) => `second(${v})`,
  MILLISECOND: (v) => `(millisecond(${v}) % 1000)`,
  MICROSECOND: (v) => `(microsecond(${v}) % 1000000)`,
};

/** EXTRACT(part FROM value), in UTC. */
export function extract(scope: Scope, expr: Extract<Expr, { kind: 'extract' }>, arg: Typed): Typed {
  if (expr.zone && !(expr.zone.kind === 'literal' && expr.zone.value === 'UTC'))
    throw refuse(scope, expr.pos, 'A time zone other than UTC');
  const timed = arg.type === 'TIMESTAMP' || arg.type === 'DATETIME';
  if (!timed && arg.type !== 'DATE') throw fail(scope, expr.pos, `EXTRACT from ${typeName(arg.type)} is not defined`);
  const value = arg.type === 'TIMESTAMP' ? `(${arg.sql} AT TIME ZONE 'UTC')` : arg.sql;
  if (expr.part === 'DATE' && timed) return { sql: `CAST(${value} AS DATE)`, type: 'DATE' };
  const part = DATE_PARTS[expr.part] ?? (timed ? TIME_PARTS[expr.part] : undefined);
  if (!part) throw refuse(scope, expr.pos, `EXTRACT(${expr.part}) from ${typeName(arg.type)}`);
  return { sql: `CAST(${part(value)} AS BIGINT)`, type: 'INT64' };
}
