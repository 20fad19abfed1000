import type { Call, Window } from '../ast.ts';
import { orderKeys, sortable } from '../call.ts';
import { coerce, nullOf } from '../coerce.ts';
import { translate } from '../expression.ts';
import { fail, refuse, type Scope } from '../scope.ts';
import type { Typed } from '../typing.ts';
import { AGGREGATES, translateAggregate } from './aggregate.ts';

const RANKS = ['ROW_NUMBER', 'RANK', 'DENSE_RANK'];

/** A call with OVER. */
export function translateWindow(call: Call, window: Window, scope: Scope): Typed {
  const { name, pos } = call;
  if (!scope.windows) throw fail(scope, pos, `Analytic function ${name} not allowed here`);
  const inner: Scope = { ...scope, windows: false };
  const over = ` OVER (${overText(window, inner)})`;
  if (AGGREGATES[name]?.window) return translateAggregate(call, inner, over);
  if (call.distinct || call.star || call.orderBy.length > 0 || call.limit || call.safe)
    throw refuse(scope, pos, `This form of ${name} OVER`);
  if (RANKS.includes(name)) {
    if (call.args.length > 0) throw fail(scope, pos, `No matching signature for function ${name}`);
    if (name !== 'ROW_NUMBER' && window.orderBy.length === 0)
      throw fail(scope, pos, `Window ORDER BY is required for analytic function ${name}`);
    if (window.frame !== undefined)
      throw fail(scope, pos, `Window framing clause is not allowed for analytic function ${name}`);
    return { sql: `CAST(${name.toLowerCase()}()${over} AS BIGINT)`, type: 'INT64' };
  }
  const [first, second, third] = call.args;
  if (!first) throw refuse(scope, pos, `Function ${name} OVER`);
  const value = translate(first, inner);
  if (name === 'LAG' || name === 'LEAD') {
    if (window.orderBy.length === 0)
      throw fail(scope, pos, `Window ORDER BY is required for analytic function ${name}`);
    if (window.frame !== undefined)
      throw fail(scope, pos, `Window framing clause is not allowed for analytic function ${name}`);
    const by = second ? translate(second, inner, 'INT64') : undefined;
    if (by && typeof by.value !== 'bigint')
      throw refuse(scope, pos, `${name} with an offset that is no literal or parameter`);
    const otherwise = third ? coerce(scope, translate(third, inner), value.type, pos) : nullOf(value.type);
    return {
      sql: `${name.toLowerCase()}(${value.sql}, ${by?.value?.toString() ?? '1'}, ${otherwise.sql})${over}`,
      type: value.type,
    };
  }
  if (name === 'FIRST_VALUE' || name === 'LAST_VALUE') {
    if (call.args.length !== 1) throw fail(scope, pos, `No matching signature for function ${name}`);
    const nulls = call.nulls === 'IGNORE' ? ' IGNORE NULLS' : '';
    return { sql: `${name.toLowerCase()}(${value.sql}${nulls})${over}`, type: value.type };
  }
  throw refuse(scope, pos, `Function ${name} OVER`);
}

function overText(window: Window, scope: Scope): string {
  const parts: string[] = [];
  if (window.partitionBy.length > 0) {
    const keys = window.partitionBy.map((item) => {
      const key = sortable(scope, item);
      if (key.type === 'FLOAT64')
        throw fail(scope, item.pos, 'Partitioning by expressions of type FLOAT64 is not allowed');
      return key.sql;
    });
    parts.push(`PARTITION BY ${keys.join(', ')}`);
  }
  if (window.orderBy.length > 0) {
    if (window.frame?.startsWith('RANGE') && /\d/.test(window.frame)) throw refuse(scope, 0, 'RANGE with numbers');
    parts.push(`ORDER BY ${orderKeys(window.orderBy, (item) => sortable(scope, item))}`);
  }
  if (window.frame !== undefined) parts.push(window.frame);
  return parts.join(' ');
}
