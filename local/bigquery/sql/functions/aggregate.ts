import type { Call } from '../ast.ts';
import { orderKeys, sortable } from '../call.ts';
import { coerce } from '../coerce.ts';
import { translate, translateBool } from '../expression.ts';
import { comparable } from '../operators.ts';
import { fail, refuse, type Scope } from '../scope.ts';
import { typeName, type Type, type Typed } from '../typing.ts';

/** How an aggregate reads: `inner` goes between the parentheses, `wrap` around the call (with OVER in between). */
interface Aggregate {
  readonly args: number | readonly [number, number];
  readonly distinct?: boolean;
  readonly ordered?: boolean;
  readonly window?: boolean;
}

export const AGGREGATES: Record<string, Aggregate> = {
  COUNT: { args: [0, 1], distinct: true, window: true },
  COUNTIF: { args: 1, window: true },
  SUM: { args: 1, distinct: true, window: true },
  AVG: { args: 1, window: true },
  MIN: { args: 1, window: true },
  MAX: { args: 1, window: true },
  ANY_VALUE: { args: 1 },
  LOGICAL_AND: { args: 1 },
  LOGICAL_OR: { args: 1 },
  ARRAY_AGG: { args: 1, distinct: true, ordered: true },
  STRING_AGG: { args: [1, 2], distinct: true, ordered: true },
  MIN_BY: { args: 2 },
  MAX_BY: { args: 2 },
};

/** An aggregate call; with `over` it is one over a window. */
export function translateAggregate(call: Call, scope: Scope, over = ''): Typed {
  const { name, pos } = call;
  const rule = AGGREGATES[name] ?? { args: 1 };
  const [least, most] = typeof rule.args === 'number' ? [rule.args, rule.args] : rule.args;
  if (
    call.args.length < least ||
    call.args.length > most ||
    call.star !== (name === 'COUNT' && call.args.length === 0)
  ) {
    throw fail(scope, pos, `No matching signature for aggregate function ${name}`);
  }
  if (call.distinct && (!rule.distinct || over)) throw refuse(scope, pos, `${name}(DISTINCT)${over && ' OVER'}`);
  if ((call.orderBy.length > 0 || call.limit) && !rule.ordered)
    throw refuse(scope, pos, `ORDER BY or LIMIT in ${name}`);
  if (call.nulls && name !== 'ARRAY_AGG') throw refuse(scope, pos, `${call.nulls} NULLS in ${name}`);
  if (call.safe) throw refuse(scope, pos, `SAFE.${name}`);
  const { grouped: _grouped, ...rest } = scope;
  const inner: Scope = over ? scope : { ...rest, aggregates: false, windows: false };
  const [first] = call.args;
  if (!first) return { sql: `count(*)${over}`, type: 'INT64' };
  if (name === 'COUNTIF')
    return {
      sql: `count(CASE WHEN ${translateBool(first, inner, 'Argument of COUNTIF').sql} THEN 1 END)${over}`,
      type: 'INT64',
    };
  const value = firm(inner, translate(first, inner), pos);
  const distinct = call.distinct ? 'DISTINCT ' : '';
  if (call.distinct) comparable(scope, [value], pos);
  switch (name) {
    case 'COUNT':
      return { sql: `count(${distinct}${value.sql})${over}`, type: 'INT64' };
    case 'SUM':
      return sum(scope, value, distinct, over, pos);
    case 'AVG':
      if (value.type !== 'INT64' && value.type !== 'FLOAT64')
        throw refuse(scope, pos, `AVG of ${typeName(value.type)}`);
      return { sql: `avg(CAST(${value.sql} AS DOUBLE))${over}`, type: 'FLOAT64' };
    case 'MIN':
    case 'MAX': {
      comparable(scope, [value], pos);
      const plain = `${name.toLowerCase()}(${value.sql})${over}`;
      if (value.type !== 'FLOAT64') return { sql: plain, type: value.type };
      return {
        sql: `CASE WHEN bool_or(isnan(${value.sql}))${over} THEN CAST('nan' AS DOUBLE) ELSE ${plain} END`,
        type: 'FLOAT64',
      };
    }
    case 'ANY_VALUE':
      return { sql: `first(${value.sql})`, type: value.type };
    case 'LOGICAL_AND':
    case 'LOGICAL_OR':
      return { sql: `bool_${name.slice(8).toLowerCase()}(${coerce(scope, value, 'BOOL', pos).sql})`, type: 'BOOL' };
    case 'MIN_BY':
    case 'MAX_BY': {
      const key = call.args[1] ? translate(call.args[1], inner) : value;
      comparable(scope, [key], pos);
      // DuckDB's arg_max skips rows whose value is NULL.
      return { sql: `arg_${name.slice(0, 3).toLowerCase()}_null(${value.sql}, ${key.sql})`, type: value.type };
    }
    default:
      return collected(call, inner, value, distinct);
  }
}

function firm(scope: Scope, value: Typed, pos: number): Typed {
  return value.type === 'NULL' ? coerce(scope, value, 'INT64', pos) : value;
}

function sum(scope: Scope, value: Typed, distinct: string, over: string, pos: number): Typed {
  const cast: Partial<Record<string, string>> = { INT64: 'BIGINT', FLOAT64: 'DOUBLE', NUMERIC: 'DECIMAL(38, 9)' };
  const type = cast[typeName(value.type)];
  if (type === undefined)
    throw fail(
      scope,
      pos,
      `No matching signature for aggregate function SUM for argument types: ${typeName(value.type)}`,
    );
  return { sql: `CAST(sum(${distinct}${value.sql})${over} AS ${type})`, type: value.type };
}

/** ARRAY_AGG and STRING_AGG. */
function collected(call: Call, scope: Scope, value: Typed, distinct: string): Typed {
  const order = call.orderBy.length > 0 ? ` ORDER BY ${orderKeys(call.orderBy, (item) => sortable(scope, item))}` : '';
  if (distinct && call.orderBy.length > 0) {
    const same =
      call.orderBy.length === 1 && call.orderBy[0] && translate(call.orderBy[0].value, scope).sql === value.sql;
    if (!same)
      throw fail(
        scope,
        call.pos,
        `An aggregate function that has both DISTINCT and ORDER BY arguments can only ORDER BY expressions that are arguments to the function`,
      );
  }
  const isText = call.name === 'STRING_AGG';
  if (isText) coerce(scope, value, 'STRING', call.pos, 'Argument 1 of STRING_AGG');
  if (!isText && typeof value.type === 'object' && value.type.kind === 'array')
    throw fail(scope, call.pos, 'The argument to ARRAY_AGG must not be an array type');
  const skip = isText || call.nulls === 'IGNORE' ? ` FILTER (WHERE ${value.sql} IS NOT NULL)` : '';
  let list = `list(${distinct}${value.sql}${order})${skip}`;
  if (call.limit) {
    const limit = coerce(scope, translate(call.limit, scope), 'INT64', call.pos);
    if (typeof limit.value !== 'bigint') throw refuse(scope, call.pos, 'A LIMIT that is no literal or parameter');
    list = `list_slice(${list}, 1, ${limit.value})`;
  }
  const type: Type = { kind: 'array', element: value.type };
  if (!isText) return { sql: list, type };
  const by = call.args[1] ? translate(call.args[1], scope, 'STRING').sql : "','";
  return { sql: `array_to_string(${list}, ${by})`, type: 'STRING' };
}
