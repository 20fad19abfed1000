import type { Call, Expr, OrderItem } from './ast.ts';
import { coerce } from './coerce.ts';
import { translate } from './expression.ts';
import { AGGREGATES, translateAggregate } from './functions/aggregate.ts';
import { CONDITIONALS } from './functions/conditional.ts';
import { DATES } from './functions/date.ts';
import { HASHES } from './functions/hash.ts';
import { JSONS } from './functions/json.ts';
import { MATHS } from './functions/math.ts';
import { STRINGS } from './functions/string.ts';
import { ARRAYS } from './functions/array.ts';
import type { Builder } from './functions/builder.ts';
import { translateWindow } from './functions/window.ts';
import { fail, refuse, type Scope } from './scope.ts';
import type { Typed } from './typing.ts';

const SCALARS = new Map<string, Builder>(
  [STRINGS, MATHS, DATES, JSONS, CONDITIONALS, HASHES, ARRAYS].flatMap((family) => Object.entries(family)),
);

export function translateCall(call: Call, scope: Scope): Typed {
  if (call.over) return translateWindow(call, call.over, scope);
  if (call.name in AGGREGATES) {
    if (!scope.aggregates) throw fail(scope, call.pos, `Aggregate function ${call.name} not allowed here`);
    return translateAggregate(call, scope);
  }
  const builder = SCALARS.get(call.name);
  if (!builder) throw refuse(scope, call.pos, `Function ${call.name}`);
  if (call.star || call.distinct || call.nulls || call.orderBy.length > 0 || call.limit) {
    throw fail(scope, call.pos, `Function ${call.name} takes no *, DISTINCT, IGNORE NULLS, ORDER BY or LIMIT`);
  }
  return builder({ scope, name: call.name, exprs: call.args, pos: call.pos, safe: call.safe });
}

/** ORDER BY keys as GoogleSQL sorts: NULL first, then NaN, then values; all reversed by DESC. */
export function orderKeys(items: readonly OrderItem[], one: (value: Expr) => Typed): string {
  return items
    .map(({ value, descending, nulls }) => {
      const key = one(value);
      const direction = descending ? 'DESC' : 'ASC';
      const where = nulls ?? (descending ? 'LAST' : 'FIRST');
      const nan =
        key.type === 'FLOAT64' && !/^\d+$/.test(key.sql)
          ? `isnan(${key.sql}) ${descending ? 'ASC' : 'DESC'} NULLS ${where}, `
          : '';
      return `${nan}${key.sql} ${direction} NULLS ${where}`;
    })
    .join(', ');
}

/** A sort key; integers would read as positions to DuckDB. */
export function sortable(scope: Scope, value: Expr): Typed {
  const typed = translate(value, scope);
  if (typeof typed.type === 'object' || typed.type === 'JSON') {
    throw fail(scope, value.pos, 'Ordering by expressions of this type is not allowed');
  }
  return typed.type === 'NULL' ? coerce(scope, typed, 'INT64', value.pos) : typed;
}
