import type { Expr } from './ast.ts';
import { compileQuery } from './query.ts';
import { coerce, nullOf } from './coerce.ts';
import { translate } from './expression.ts';
import { structOf } from './paths.ts';
import { expandItems } from './items.ts';
import { fail, type Scope } from './scope.ts';
import type { Typed } from './typing.ts';

/** A subquery as an expression; it may refer to the columns around it. */
export function translateSubquery(
  expr: Extract<Expr, { kind: 'subquery' }>,
  scope: Scope,
  place = 'Scalar subquery',
): Typed {
  const { query, mode, pos } = expr;
  const inline = place === 'Scalar subquery' && mode === 'scalar' ? inlineStruct(expr, scope) : undefined;
  if (inline) return inline;
  const { aliases: _aliases, ...outer } = scope;
  const compiled = compileQuery(query, { ...outer, parent: outer, ranges: [] });
  for (const column of compiled.columns) for (const dep of column.deps) scope.deps.add(dep);
  if (mode === 'exists') return { sql: `EXISTS (${compiled.sql})`, type: 'BOOL' };
  const [column] = compiled.columns;
  if (!column || compiled.columns.length !== 1) {
    throw fail(
      scope,
      pos,
      `${mode === 'array' ? 'ARRAY subquery' : place} cannot have more than one column unless using SELECT AS STRUCT`,
    );
  }
  const type = column.type === 'NULL' ? 'INT64' : column.type;
  if (mode === 'array') {
    if (typeof type === 'object' && type.kind === 'array')
      throw fail(scope, pos, 'Cannot use array subquery with column of type ARRAY');
    // Without the coalesce DuckDB gives NULL for a correlated subquery without rows.
    const none = coerce(
      scope,
      nullOf({ kind: 'array', element: type }),
      { kind: 'array', element: type },
      pos,
    ).sql.replace('NULL', '[]');
    return { sql: `coalesce(ARRAY(${compiled.sql}), ${none})`, type: { kind: 'array', element: type } };
  }
  return { sql: `(${compiled.sql})`, type };
}

/** (SELECT AS STRUCT ...) without FROM is the STRUCT itself. */
function inlineStruct({ query, pos }: Extract<Expr, { kind: 'subquery' }>, scope: Scope): Typed | undefined {
  const { body } = query;
  if (body.kind !== 'select' || !body.asStruct || body.from || body.where || body.groupBy.length > 0 || body.distinct)
    return undefined;
  if (query.with.length > 0 || query.orderBy.length > 0 || query.limit) return undefined;
  const members = expandItems(body.items, scope, (value) => translate(value, scope));
  return structOf(
    scope,
    members.map(({ name, value }) => ({ name: name ?? '', value })),
    pos,
  );
}
