import { coerce, unify } from '../coerce.ts';
import { fail, refuse } from '../scope.ts';
import { typeName, type Type } from '../typing.ts';
import { argument, arity, notSafe, simple, type Builder, type CallSite } from './builder.ts';

/** FLOAT64 for INT64, the type itself for the other numbers. */
const rounding =
  (duckdb: string): Builder =>
  (call) => {
    arity(call, 1, call.name === 'ROUND' || call.name === 'TRUNC' ? 2 : 1);
    notSafe(call);
    const value = argument(call, 0);
    const type: Type = value.type === 'NUMERIC' ? 'NUMERIC' : 'FLOAT64';
    if (call.exprs.length === 2 && (type === 'NUMERIC' || call.name === 'TRUNC')) {
      throw refuse(call.scope, call.pos, `${call.name} with two arguments of this type`);
    }
    if (call.exprs.length === 2)
      return { sql: roundTo(call, coerce(call.scope, value, 'FLOAT64', call.pos).sql), type };
    const sql = `${duckdb}(${coerce(call.scope, value, type, call.pos).sql})`;
    return { sql: type === 'NUMERIC' ? `CAST(${sql} AS DECIMAL(38, 9))` : sql, type };
  };

/**
 * ROUND(value, digits) of the exact value, halves away from zero; DuckDB scales by a power of ten, which makes halves
 * of what are none.
 */
function roundTo(call: CallSite, value: string): string {
  const digits = argument(call, 1, 'INT64').value;
  if (typeof digits !== 'bigint')
    throw refuse(call.scope, call.pos, 'ROUND to digits that are no literal or parameter');
  if (digits <= 0n || digits > 40n) return `round(${value}, ${digits > 40n ? 40n : digits})`;
  const half = `regexp_full_match(format('{:.100f}', ${value}), '.*\\.[0-9]{${digits}}50*')`;
  return `CASE WHEN isnan(${value}) OR isinf(${value}) THEN ${value} WHEN ${half} THEN round(${value}, ${digits}) ELSE CAST(format('{:.${digits}f}', ${value}) AS DOUBLE) END`;
}

export const MATHS: Record<string, Builder> = {
  ABS: (call) => {
    arity(call, 1);
    notSafe(call);
    const value = argument(call, 0);
    const { type, values } = unify(call.scope, [value], call.pos, 'ABS');
    if (!['INT64', 'FLOAT64', 'NUMERIC'].includes(typeName(type)))
      throw fail(call.scope, call.pos, `No matching signature for function ABS for argument types: ${typeName(type)}`);
    return { sql: `abs(${values[0]?.sql ?? ''})`, type };
  },
  ROUND: rounding('round'),
  FLOOR: rounding('floor'),
  CEIL: rounding('ceil'),
  CEILING: rounding('ceil'),
  TRUNC: rounding('trunc'),
  DIV: simple(
    'INT64, INT64',
    'INT64',
    (a, b) =>
      `CASE WHEN ${b ?? ''} = 0 THEN error('division by zero: ' || ${a ?? ''} || ' / ' || ${b ?? ''}) ELSE ${a ?? ''} // ${b ?? ''} END`,
  ),
  MOD: simple(
    'INT64, INT64',
    'INT64',
    (a, b) =>
      `CASE WHEN ${b ?? ''} = 0 THEN error('division by zero: MOD(' || ${a ?? ''} || ', ' || ${b ?? ''} || ')') WHEN ${b ?? ''} = -1 THEN 0 ELSE ${a ?? ''} % ${b ?? ''} END`,
  ),
  SAFE_DIVIDE: (call) => {
    arity(call, 2);
    const [left, right] = [argument(call, 0), argument(call, 1)];
    if (left.type === 'NUMERIC' || right.type === 'NUMERIC')
      throw refuse(call.scope, call.pos, 'The division of NUMERIC (cast to FLOAT64)');
    const [a, b] = [left, right].map((value) => coerce(call.scope, value, 'FLOAT64', call.pos).sql);
    return {
      sql: `CASE WHEN ${b ?? ''} = 0 OR (isinf(${a ?? ''} / ${b ?? ''}) AND NOT isinf(${a ?? ''})) THEN NULL ELSE ${a ?? ''} / ${b ?? ''} END`,
      type: 'FLOAT64',
    };
  },
  SIGN: (call) => {
    arity(call, 1);
    const value = argument(call, 0);
    if (value.type === 'NUMERIC') throw refuse(call.scope, call.pos, 'SIGN of NUMERIC');
    const type = value.type === 'FLOAT64' ? 'FLOAT64' : 'INT64';
    return {
      sql: `CAST(sign(${coerce(call.scope, value, type, call.pos).sql}) AS ${type === 'INT64' ? 'BIGINT' : 'DOUBLE'})`,
      type,
    };
  },
};
