import { unify } from '../coerce.ts';
import { translateBool } from '../expression.ts';
import { compare, comparable } from '../operators.ts';
import { argument, arity, notSafe, type Builder } from './builder.ts';

const extreme =
  (duckdb: string): Builder =>
  (call) => {
    arity(call, 1, 1000);
    const args = call.exprs.map((_, index) => argument(call, index));
    const { type, values } = unify(call.scope, args, call.pos, call.name);
    comparable(call.scope, values, call.pos);
    const list = values.map((value) => value.sql);
    const nan =
      type === 'FLOAT64' ? `WHEN ${list.map((one) => `isnan(${one})`).join(' OR ')} THEN CAST('nan' AS DOUBLE) ` : '';
    const missing = list.map((one) => `${one} IS NULL`).join(' OR ');
    return { sql: `CASE WHEN ${missing} THEN NULL ${nan}ELSE ${duckdb}(${list.join(', ')}) END`, type };
  };

const coalesce: Builder = (call) => {
  arity(call, call.name === 'IFNULL' ? 2 : 1, call.name === 'IFNULL' ? 2 : 1000);
  const { type, values } = unify(
    call.scope,
    call.exprs.map((_, index) => argument(call, index)),
    call.pos,
    call.name,
  );
  return { sql: `coalesce(${values.map((value) => value.sql).join(', ')})`, type };
};

export const CONDITIONALS: Record<string, Builder> = {
  IF: (call) => {
    arity(call, 3);
    const [condition] = call.exprs;
    const test = condition ? translateBool(condition, call.scope, 'Argument 1 of IF').sql : '';
    const { type, values } = unify(call.scope, [argument(call, 1), argument(call, 2)], call.pos, 'IF');
    return { sql: `CASE WHEN ${test} THEN ${values[0]?.sql ?? ''} ELSE ${values[1]?.sql ?? ''} END`, type };
  },
  IFNULL: coalesce,
  COALESCE: coalesce,
  NULLIF: (call) => {
    arity(call, 2);
    const { type, values } = unify(call.scope, [argument(call, 0), argument(call, 1)], call.pos, 'NULLIF');
    const [a, b] = values;
    if (!a || !b) throw new Error('two values');
    return { sql: `CASE WHEN ${compare(call.scope, '=', a, b, call.pos).sql} THEN NULL ELSE ${a.sql} END`, type };
  },
  // Of every type, as the literal NULL is; fails only where it is evaluated.
  ERROR: (call) => {
    notSafe(call);
    arity(call, 1);
    const message = argument(call, 0, 'STRING').sql;
    return { sql: `error(coalesce(${message}, 'ERROR function called with NULL value'))`, type: 'NULL' };
  },
  GREATEST: extreme('greatest'),
  LEAST: extreme('least'),
};
