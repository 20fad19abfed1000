import type { Expr } from '../ast.ts';
import { coerce, dateConstant, timestampConstant } from '../coerce.ts';
import { castTo } from '../cast.ts';
import { translate } from '../expression.ts';
import { fail, refuse } from '../scope.ts';
import { typeName, type Typed } from '../typing.ts';
import { argument, arity, notSafe, simple, word, type Builder, type CallSite } from './builder.ts';
import { formatTime } from './format-time.ts';
import { dateTrunc, timestampTrunc } from './truncate.ts';

const MICROS: Record<string, bigint> = {
  MICROSECOND: 1n,
  MILLISECOND: 1_000n,
  SECOND: 1_000_000n,
  MINUTE: 60_000_000n,
  HOUR: 3_600_000_000n,
  DAY: 86_400_000_000n,
};

function interval(call: CallSite, allowed: readonly string[]): { amount: Typed; part: string } {
  const expr: Expr | undefined = call.exprs[1];
  if (expr?.kind !== 'interval')
    throw fail(call.scope, expr?.pos ?? call.pos, `${call.name} takes an INTERVAL as its second argument`);
  if (!allowed.includes(expr.part))
    throw fail(call.scope, expr.pos, `${call.name} does not support the ${expr.part} date part`);
  return {
    amount: coerce(call.scope, translate(expr.value, call.scope), 'INT64', expr.pos, 'INTERVAL'),
    part: expr.part,
  };
}

const timestampAdd =
  (sign: 1 | -1): Builder =>
  (call) => {
    arity(call, 2);
    notSafe(call);
    const base = argument(call, 0, 'TIMESTAMP');
    const { amount, part } = interval(call, Object.keys(MICROS));
    const unit = MICROS[part] ?? 1n;
    if (typeof base.value === 'bigint' && typeof amount.value === 'bigint') {
      const moved = base.value + BigInt(sign) * amount.value * unit;
      if (moved >= -62_135_596_800_000_000n && moved <= 253_402_300_799_999_999n) return timestampConstant(moved);
    }
    return {
      sql: `gsql_timestamp(epoch_us(${base.sql}) ${sign > 0 ? '+' : '-'} ${amount.sql} * ${unit})`,
      type: 'TIMESTAMP',
    };
  };

const dateAdd =
  (sign: 1 | -1): Builder =>
  (call) => {
    arity(call, 2);
    notSafe(call);
    const base = argument(call, 0, 'DATE');
    const { amount, part } = interval(call, ['DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR']);
    const by = sign > 0 ? '+' : '-';
    const day = { DAY: 1, WEEK: 7 }[part];
    if (day !== undefined) {
      if (typeof base.value === 'bigint' && typeof amount.value === 'bigint')
        return dateConstant(base.value + BigInt(sign) * amount.value * BigInt(day));
      return { sql: `gsql_date(${base.sql} ${by} CAST(${amount.sql} * ${day} AS INTEGER))`, type: 'DATE' };
    }
    const months = { MONTH: 1, QUARTER: 3, YEAR: 12 }[part] ?? 1;
    return {
      sql: `gsql_date(CAST(${base.sql} ${by} to_months(CAST(${amount.sql} * ${months} AS INTEGER)) AS DATE))`,
      type: 'DATE',
    };
  };

const timestampDiff: Builder = (call) => {
  arity(call, 3);
  const unit = MICROS[word(call, 2)];
  if (unit === undefined)
    throw fail(call.scope, call.pos, `TIMESTAMP_DIFF does not support the ${word(call, 2)} date part`);
  const [a, b] = [argument(call, 0, 'TIMESTAMP').sql, argument(call, 1, 'TIMESTAMP').sql];
  return { sql: `((epoch_us(${a}) - epoch_us(${b})) // ${unit})`, type: 'INT64' };
};

const dateDiff: Builder = (call) => {
  arity(call, 3);
  const part = word(call, 2);
  const [a, b] = [argument(call, 0, 'DATE').sql, argument(call, 1, 'DATE').sql];
  if (part === 'DAY') return { sql: `CAST(${a} - ${b} AS BIGINT)`, type: 'INT64' };
  if (part === 'ISOWEEK' || part === 'WEEK' || part.startsWith('WEEK(')) {
    const [x, y] = [dateTrunc(call, a, part), dateTrunc(call, b, part)];
    return { sql: `(CAST(${x} - ${y} AS BIGINT) // 7)`, type: 'INT64' };
  }
  if (!['MONTH', 'QUARTER', 'YEAR'].includes(part)) throw refuse(call.scope, call.pos, `DATE_DIFF with ${part}`);
  return { sql: `date_diff('${part.toLowerCase()}', ${b}, ${a})`, type: 'INT64' };
};

/** Only UTC is known as a zone. */
export function utcOnly(call: CallSite, index: number): void {
  if (call.exprs.length <= index) return;
  const zone = argument(call, index, 'STRING').value;
  if (zone !== 'UTC') throw refuse(call.scope, call.pos, 'A time zone other than UTC');
}

const date: Builder = (call) => {
  notSafe(call);
  if (call.exprs.length === 3) {
    const [y, m, d] = [0, 1, 2].map((index) => argument(call, index, 'INT64').sql);
    return { sql: `gsql_date(make_date(${y ?? ''}, ${m ?? ''}, ${d ?? ''}))`, type: 'DATE' };
  }
  arity(call, 1, 2);
  utcOnly(call, 1);
  const value = argument(call, 0);
  if (value.type === 'TIMESTAMP' && typeof value.value === 'bigint') {
    const days = value.value / 86_400_000_000n - (value.value % 86_400_000_000n < 0n ? 1n : 0n);
    return dateConstant(days);
  }
  if (value.fixed === undefined && value.type !== 'TIMESTAMP' && value.type !== 'DATETIME' && value.type !== 'DATE') {
    throw fail(
      call.scope,
      call.pos,
      `No matching signature for function DATE for argument types: ${typeName(value.type)}`,
    );
  }
  return castTo(call.scope, value, 'DATE', false, call.pos);
};

const fromEpoch =
  (unit: bigint): Builder =>
  (call) => {
    arity(call, 1);
    notSafe(call);
    const value = argument(call, 0, 'INT64');
    if (typeof value.value === 'bigint') {
      const micros = value.value * unit;
      if (micros >= -62_135_596_800_000_000n && micros <= 253_402_300_799_999_999n) return timestampConstant(micros);
    }
    return { sql: `gsql_timestamp(${value.sql} * ${unit})`, type: 'TIMESTAMP' };
  };

const toEpoch = (unit: bigint): Builder =>
  simple('TIMESTAMP', 'INT64', (ts) =>
    unit === 1n ? `epoch_us(${ts ?? ''})` : `gsql_floor_div(epoch_us(${ts ?? ''}), ${unit})`,
  );

export const DATES: Record<string, Builder> = {
  CURRENT_TIMESTAMP: (call) => {
    arity(call, 0);
    return timestampConstant(BigInt(call.scope.state.context.now));
  },
  CURRENT_DATE: (call) => {
    arity(call, 0, 1);
    utcOnly(call, 0);
    return dateConstant(BigInt(Math.floor(call.scope.state.context.now / 86_400_000_000)));
  },
  TIMESTAMP: (call) => {
    arity(call, 1, 2);
    notSafe(call);
    utcOnly(call, 1);
    return castTo(call.scope, argument(call, 0), 'TIMESTAMP', false, call.pos);
  },
  DATE: date,
  TIMESTAMP_ADD: timestampAdd(1),
  TIMESTAMP_SUB: timestampAdd(-1),
  TIMESTAMP_DIFF: timestampDiff,
  TIMESTAMP_TRUNC: (call) => {
    arity(call, 2, 3);
    utcOnly(call, 2);
    return { sql: timestampTrunc(call, argument(call, 0, 'TIMESTAMP').sql, word(call, 1)), type: 'TIMESTAMP' };
  },
  DATE_ADD: dateAdd(1),
  DATE_SUB: dateAdd(-1),
  DATE_DIFF: dateDiff,
  DATE_TRUNC: (call) => {
    arity(call, 2);
    return { sql: dateTrunc(call, argument(call, 0, 'DATE').sql, word(call, 1)), type: 'DATE' };
  },
  UNIX_DATE: simple('DATE', 'INT64', (d) => `CAST(${d ?? ''} - DATE '1970-01-01' AS BIGINT)`),
  DATE_FROM_UNIX_DATE: simple('INT64', 'DATE', (n) => `gsql_date(DATE '1970-01-01' + CAST(${n ?? ''} AS INTEGER))`),
  UNIX_MICROS: toEpoch(1n),
  UNIX_MILLIS: toEpoch(1_000n),
  UNIX_SECONDS: toEpoch(1_000_000n),
  TIMESTAMP_MICROS: fromEpoch(1n),
  TIMESTAMP_MILLIS: fromEpoch(1_000n),
  TIMESTAMP_SECONDS: fromEpoch(1_000_000n),
  FORMAT_TIMESTAMP: formatTime('TIMESTAMP'),
  FORMAT_DATE: formatTime('DATE'),
};
