import { coerce, unify } from '../coerce.ts';
import { fail } from '../scope.ts';
import { typeName, type Type, type Typed } from '../typing.ts';
import { argument, arity, notSafe, simple, type Builder, type CallSite } from './builder.ts';

function array(call: CallSite, index: number): Typed & { element: Type } {
  const value = argument(call, index);
  if (typeof value.type !== 'object' || value.type.kind !== 'array') {
    throw fail(
      call.scope,
      call.pos,
      `Argument ${index + 1} of ${call.name} must be an array, not ${typeName(value.type)}`,
    );
  }
  return { ...value, element: value.type.element };
}

export const ARRAYS: Record<string, Builder> = {
  ARRAY_LENGTH: (call) => {
    arity(call, 1);
    return { sql: `CAST(len(${array(call, 0).sql}) AS BIGINT)`, type: 'INT64' };
  },
  ARRAY_CONCAT: (call) => {
    arity(call, 1, 1000);
    const { type, values } = unify(
      call.scope,
      call.exprs.map((_, index) => array(call, index)),
      call.pos,
      call.name,
    );
    const missing = values.map((value) => `${value.sql} IS NULL`).join(' OR ');
    const joined = values.map((value) => value.sql).reduce((a, b) => `list_concat(${a}, ${b})`);
    return { sql: `CASE WHEN ${missing} THEN NULL ELSE ${joined} END`, type };
  },
  ARRAY_REVERSE: (call) => {
    arity(call, 1);
    const value = array(call, 0);
    return { sql: `list_reverse(${value.sql})`, type: value.type };
  },
  ARRAY_TO_STRING: (call) => {
    arity(call, 2, 3);
    notSafe(call);
    const value = coerce(call.scope, array(call, 0), { kind: 'array', element: 'STRING' }, call.pos);
    const by = argument(call, 1, 'STRING').sql;
    const items =
      call.exprs.length === 3
        ? `list_transform(${value.sql}, lambda x: coalesce(x, ${argument(call, 2, 'STRING').sql}))`
        : value.sql;
    return { sql: `CASE WHEN ${by} IS NOT NULL THEN array_to_string(${items}, ${by}) END`, type: 'STRING' };
  },
  GENERATE_ARRAY: (call) => {
    const made = simple(
      'INT64, INT64, INT64?',
      'INT64',
      (a, b, step = '1') =>
        `CASE WHEN ${step} = 0 THEN error('Sequence step cannot be 0.') ELSE generate_series(${a ?? ''}, ${b ?? ''}, ${step}) END`,
    )(call);
    return { sql: made.sql, type: { kind: 'array', element: 'INT64' } };
  },
};
