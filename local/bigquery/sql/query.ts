import type { Body, Query } from './ast.ts';
import { coerce, unify } from './coerce.ts';
import { fail, type Column, type Cte, type Scope } from './scope.ts';
import { compileSelect, integerLimit } from './select.ts';
import { orderKeys, sortable } from './call.ts';
import { sameType, type Typed } from './typing.ts';

export interface CompiledQuery {
  readonly sql: string;
  /** Output columns; `sql` is their name in the query's result. */
  readonly columns: readonly Column[];
}

/**
 * Compiles a query.
 * @param base scope without own ranges; its `parent` is what a correlated subquery sees
 */
export function compileQuery(query: Query, base: Scope): CompiledQuery {
  const ctes = new Map(base.ctes);
  const texts: string[] = [];
  for (const { name, query: inner, pos } of query.with) {
    const key = name.toLowerCase();
    if (query.with.filter((one) => one.name.toLowerCase() === key).length > 1)
      throw fail(base, pos, `Duplicate alias ${name} for WITH subquery`);
    const compiled = compileQuery(inner, { ...base, ctes: new Map(ctes) });
    const alias = base.state.alias();
    texts.push(`${alias} AS (${compiled.sql})`);
    const columns = compiled.columns.map(({ prunes: _prunes, ...column }) => column);
    ctes.set(key, { sql: alias, columns } satisfies Cte);
  }
  const prefix = texts.length > 0 ? `WITH ${texts.join(', ')} ` : '';
  const scope: Scope = { ...base, ctes };
  const { body } = query;
  if (body.kind === 'select') {
    const compiled = compileSelect(body, scope, query);
    return { sql: prefix + compiled.sql, columns: compiled.columns };
  }
  const compiled = compileBody(body, scope);
  return { sql: prefix + compiled.sql + tail(query, scope, compiled), columns: compiled.columns };
}

/** ORDER BY and LIMIT after a set operation or parentheses: over the output columns only. */
function tail(query: Query, scope: Scope, compiled: CompiledQuery): string {
  const named = compiled.columns.flatMap((column) =>
    column.name === undefined
      ? []
      : [[column.name.toLowerCase(), { sql: column.sql, type: column.type, deps: column.deps }] as const],
  );
  const inner: Scope = {
    ...scope,
    ranges: [],
    aliases: new Map(named),
    deps: new Set(),
    aggregates: false,
    windows: false,
  };
  const order =
    query.orderBy.length > 0
      ? ` ORDER BY ${orderKeys(query.orderBy, (value): Typed => {
          if (value.kind !== 'literal' || value.type !== 'INT64') return sortable(inner, value);
          const column = compiled.columns[Number(value.value) - 1];
          if (!column) throw fail(scope, value.pos, `ORDER BY column number ${value.value} is out of range`);
          return { sql: column.sql, type: column.type };
        })}`
      : '';
  scope.state.use(inner.deps);
  return order + integerLimit(query, inner);
}

function compileBody(body: Body, scope: Scope): CompiledQuery {
  if (body.kind === 'select') return compileSelect(body, scope, undefined);
  if (body.kind === 'nested') {
    const inner = compileQuery(body.query, scope);
    const alias = scope.state.alias();
    return { sql: `SELECT * FROM (${inner.sql}) AS ${alias}`, columns: inner.columns };
  }
  const left = compileBody(body.left, scope);
  const right = compileBody(body.right, scope);
  if (left.columns.length !== right.columns.length) {
    throw fail(
      scope,
      body.pos,
      `Queries in ${body.op} have mismatched column count; query 1 has ${left.columns.length} columns, query 2 has ${right.columns.length} columns`,
    );
  }
  const columns = left.columns.map((column, index): Column => {
    const other = right.columns[index] ?? column;
    const { type } = unify(
      scope,
      [column, other].map(({ sql, type: own }) => (own === 'NULL' ? { sql, type: own } : { sql, type: own })),
      body.pos,
      body.op,
    );
    const sql = `c${index}`;
    return { name: column.name, sql, type, deps: new Set([...column.deps, ...other.deps]) };
  });
  // A set operation without ALL reads all columns to compare them.
  if (body.op !== 'UNION ALL') for (const column of columns) scope.state.use(column.deps);
  const side = ({ sql, columns: own }: CompiledQuery): string => {
    const casts = own.map((column, index) => {
      const to = columns[index]?.type ?? column.type;
      const value = sameType(column.type, to)
        ? column.sql
        : coerce(scope, { sql: column.sql, type: column.type }, to, body.pos).sql;
      return `${value} AS ${columns[index]?.sql ?? column.sql}`;
    });
    return `SELECT ${casts.join(', ')} FROM (${sql}) AS ${scope.state.alias()}`;
  };
  const op = body.op.replace(' DISTINCT', '');
  return { sql: `SELECT * FROM (${side(left)} ${op} ${side(right)}) AS ${scope.state.alias()}`, columns };
}
