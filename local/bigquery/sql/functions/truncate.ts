import { fail } from '../scope.ts';
import type { CallSite } from './builder.ts';

const DAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'];
const MICROS: Record<string, bigint> = {
  MICROSECOND: 1n,
  MILLISECOND: 1_000n,
  SECOND: 1_000_000n,
  MINUTE: 60_000_000n,
  HOUR: 3_600_000_000n,
  DAY: 86_400_000_000n,
};

/** The first day of the part of the calendar that a DATE lies in. */
export function dateTrunc(call: CallSite, date: string, part: string): string {
  if (part === 'DAY') return date;
  if (['MONTH', 'QUARTER', 'YEAR'].includes(part)) return `CAST(date_trunc('${part.toLowerCase()}', ${date}) AS DATE)`;
  const first = part === 'ISOWEEK' ? 1 : part === 'WEEK' ? 0 : DAYS.indexOf(/^WEEK\((\w+)\)$/.exec(part)?.[1] ?? '');
  if (first < 0) throw fail(call.scope, call.pos, `${call.name} does not support the ${part} date part`);
  return `(${date} - CAST((dayofweek(${date}) + ${7 - first}) % 7 AS INTEGER))`;
}

export function timestampTrunc(call: CallSite, timestamp: string, part: string): string {
  const unit = MICROS[part];
  if (unit !== undefined) return `make_timestamptz(gsql_floor_div(epoch_us(${timestamp}), ${unit}) * ${unit})`;
  const day = dateTrunc(call, `CAST(${timestamp} AT TIME ZONE 'UTC' AS DATE)`, part);
  return `(CAST(${day} AS TIMESTAMP) AT TIME ZONE 'UTC')`;
}
