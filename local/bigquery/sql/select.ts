import type { Expr, Query, Select } from './ast.ts';
import { orderKeys, sortable } from './call.ts';
import { coerce } from './coerce.ts';
import { translate, translateBool } from './expression.ts';
import { compileFrom } from './from.ts';
import { AGGREGATES } from './functions/aggregate.ts';
import { expandItems, impliedName, starDeps, type Item } from './items.ts';
import { structOf } from './paths.ts';
import { prune } from './predicate.ts';
import { fail, refuse, type Column, type Dep, type Range, type Scope } from './scope.ts';
import { sameType, typeName, type Type, type Typed } from './typing.ts';
import { walk } from './walk.ts';

type Output = Item & { readonly deps: ReadonlySet<Dep> };

/** Compiles one SELECT with the ORDER BY and LIMIT of the query that it is the whole body of. */
export function compileSelect(
  select: Select,
  base: Scope,
  query: Query | undefined,
): { sql: string; columns: Column[] } {
  const { state } = base;
  const forced = new Set<Dep>();
  const from = select.from ? compileFrom(select.from, { ...base, deps: forced }) : { sql: '', ranges: [] as Range[] };
  const { grouped: _grouped, aliases: _aliases, ...clean } = base;
  const scope: Scope = { ...clean, ranges: from.ranges, deps: forced, aggregates: false, windows: false };
  const clauses: string[] = from.sql ? [` FROM ${from.sql}`] : [];
  if (select.where) {
    if (!select.from) throw fail(scope, select.where.pos, 'Query without FROM clause cannot have a WHERE clause');
    clauses.push(` WHERE ${translateBool(select.where, scope, 'WHERE clause').sql}`);
    prune(scope, select.where);
  }
  const orderBy = query?.orderBy ?? [];
  if (orderBy[0] && !select.from) {
    throw fail(scope, orderBy[0].value.pos, 'Query without FROM clause cannot have an ORDER BY clause');
  }
  const later = [select.having, select.qualify, ...orderBy.map((item) => item.value)].filter(
    (one) => one !== undefined,
  );
  const listed = select.items.flatMap((item) =>
    item.kind === 'expr' ? [item.value] : item.replace.map((one) => one.value),
  );
  const aggregated =
    select.groupBy.length > 0 || select.having !== undefined || [...listed, ...later].some(isAggregate);
  const keys = select.groupBy.map((key) => groupKey(key, select, scope));
  const grouped = aggregated ? new Set(keys.map((key) => key.sql)) : undefined;
  const body: Scope = { ...scope, aggregates: aggregated, windows: true, ...(grouped && { grouped }) };
  const outputs = compileItems(select, body);
  if (keys.length > 0)
    clauses.push(` GROUP BY ${keys.map((key) => (key.type === 'FLOAT64' ? `(${key.sql})` : key.sql)).join(', ')}`);
  const aliases = new Map(
    outputs.flatMap((output) =>
      output.name === undefined ? [] : [[output.name.toLowerCase(), { ...output.value, deps: output.deps }] as const],
    ),
  );
  if (select.having)
    clauses.push(` HAVING ${translateBool(select.having, { ...body, windows: false, aliases }, 'HAVING clause').sql}`);
  if (select.qualify) {
    const windowed = [select.qualify, ...listed].some((one) =>
      walk(one, (node) => node.kind === 'call' && node.over !== undefined),
    );
    if (!windowed) throw fail(scope, select.qualify.pos, 'The QUALIFY clause requires analytic function to be present');
    clauses.push(` QUALIFY ${translateBool(select.qualify, { ...body, aliases }, 'QUALIFY clause').sql}`);
  }
  if (orderBy.length > 0) {
    const order: Scope = { ...body, aliases };
    clauses.push(` ORDER BY ${orderKeys(orderBy, (value) => orderValue(value, outputs, order, select.distinct))}`);
  }
  if (query) clauses.push(integerLimit(query, scope));
  if (select.distinct) for (const output of outputs) for (const dep of output.deps) forced.add(dep);
  const plain =
    !aggregated &&
    !select.distinct &&
    !select.qualify &&
    !query?.limit &&
    !listed.some((one) => walk(one, (node) => node.kind === 'call' && node.over !== undefined));
  const columns = outputs.map(({ name, value, deps, prunes }, index): Column => {
    const sql = `c${index}`;
    return { name, sql, type: value.type, deps, ...(plain && prunes && { prunes }) };
  });
  state.use(forced);
  const list = outputs.map(({ value }, index) => `${value.sql} AS ${columns[index]?.sql ?? ''}`);
  return { sql: `SELECT ${select.distinct ? 'DISTINCT ' : ''}${list.join(', ')}${clauses.join('')}`, columns };
}

function compileItems(select: Select, scope: Scope): Output[] {
  const items = expandItems(select.items, scope, (value) => withDeps(scope, value));
  const outputs = items.map((item): Output => {
    const value =
      item.value.type === 'NULL' && select.distinct ? coerce(scope, item.value, 'INT64', select.pos) : item.value;
    return { ...item, value, deps: starDeps(item.value) ?? OWN.get(item.value) ?? new Set() };
  });
  for (const { value } of outputs) {
    if (select.distinct && (typeof value.type === 'object' || value.type === 'JSON')) {
      throw fail(scope, select.pos, `Column of type ${typeName(value.type)} cannot be used in SELECT DISTINCT`);
    }
  }
  if (!select.asStruct) return outputs;
  const struct = structOf(
    scope,
    outputs.map(({ name, value }) => ({ name: name ?? '', value })),
    select.pos,
  );
  return [{ name: undefined, value: struct, deps: new Set(outputs.flatMap((output) => [...output.deps])) }];
}

const OWN = new WeakMap<Typed, ReadonlySet<Dep>>();

function withDeps(scope: Scope, expr: Expr): Typed {
  const deps = new Set<Dep>();
  const value = { ...translate(expr, { ...scope, deps }) };
  OWN.set(value, deps);
  return value;
}

function isAggregate(expr: Expr): boolean {
  return walk(expr, (node) => node.kind === 'call' && node.over === undefined && node.name in AGGREGATES);
}

function groupKey(key: Expr, select: Select, scope: Scope): Typed {
  let expr = key;
  if (key.kind === 'literal' || key.kind === 'typed' || key.kind === 'param') {
    if (key.kind !== 'literal' || key.type !== 'INT64') throw fail(scope, key.pos, 'Cannot GROUP BY literal values');
    const item = select.items[Number(key.value) - 1];
    if (select.items.some((one) => one.kind === 'star'))
      throw refuse(scope, key.pos, 'GROUP BY a column number beside *');
    if (item?.kind !== 'expr') throw fail(scope, key.pos, `GROUP BY column number ${key.value} is out of range`);
    expr = item.value;
  } else if (key.kind === 'path' && key.names.length === 1) {
    // A name of the SELECT list comes before a column of FROM.
    const name = key.names[0]?.toLowerCase();
    const named = select.items.flatMap((one) =>
      one.kind === 'expr' && (one.alias ?? impliedName(one.value))?.toLowerCase() === name ? [one.value] : [],
    );
    if (named.length > 1) throw fail(scope, key.pos, `Name ${key.names[0] ?? ''} in GROUP BY clause is ambiguous`);
    expr = named[0] ?? key;
  }
  if (isAggregate(expr)) throw fail(scope, key.pos, 'Aggregate functions are not allowed in GROUP BY');
  const value = translate(expr, scope);
  if (typeof value.type === 'object' || value.type === 'JSON')
    throw fail(scope, key.pos, `Grouping by expressions of type ${typeName(value.type)} is not allowed`);
  return value;
}

function orderValue(value: Expr, outputs: readonly Output[], scope: Scope, distinct: boolean): Typed {
  if (value.kind === 'literal' && value.type === 'INT64') {
    const output = outputs[Number(value.value) - 1];
    if (!output) throw fail(scope, value.pos, `ORDER BY column number ${value.value} is out of range`);
    for (const dep of output.deps) scope.deps.add(dep);
    const type = checked(output.value.type, scope, value);
    return { sql: type === 'FLOAT64' && !distinct ? output.value.sql : value.value, type };
  }
  const typed = sortable(scope, value);
  const at = outputs.findIndex((output) => output.value.sql === typed.sql && sameType(output.value.type, typed.type));
  if (at >= 0 && (typed.type !== 'FLOAT64' || distinct)) return { sql: String(at + 1), type: typed.type };
  if (distinct)
    throw fail(
      scope,
      value.pos,
      'ORDER BY clause expression references column which is not visible after SELECT DISTINCT',
    );
  return typed.type === 'NULL' ? coerce(scope, typed, 'INT64', value.pos) : typed;
}

function checked(type: Type, scope: Scope, value: Expr): Type {
  if (typeof type === 'object' || type === 'JSON')
    throw fail(scope, value.pos, 'Ordering by expressions of this type is not allowed');
  return type;
}

/** ` LIMIT n OFFSET m` of literals or parameters. */
export function integerLimit(query: Query, scope: Scope): string {
  const one = (expr: Expr, word: string): string => {
    const { value } = translate(expr, scope, 'INT64');
    if (typeof value !== 'bigint') throw refuse(scope, expr.pos, `${word} that is no literal or parameter`);
    if (value < 0n) throw fail(scope, expr.pos, `${word} must be a non-negative integer`);
    return ` ${word} ${value}`;
  };
  return (query.limit ? one(query.limit, 'LIMIT') : '') + (query.offset ? one(query.offset, 'OFFSET') : '');
}
