import type { From } from './ast.ts';
import { translate, translateBool } from './expression.ts';
import { compare } from './operators.ts';
import { prune } from './predicate.ts';
import { compileQuery } from './query.ts';
import { fail, refuse, type Column, type Range, type Scope } from './scope.ts';
import { compileAppends, compileTable } from './table.ts';
import { typeName } from './typing.ts';

export interface CompiledFrom {
  readonly sql: string;
  readonly ranges: readonly Range[];
}

/** Compiles a FROM clause; `scope.ranges` are those on its left, which UNNEST may refer to. */
export function compileFrom(from: From, scope: Scope, left: readonly Range[] = []): CompiledFrom {
  switch (from.kind) {
    case 'table': {
      const [first = '', ...rest] = from.path;
      const inner = left.find((range) => range.alias?.toLowerCase() === first.toLowerCase());
      if (inner && rest.length > 0) {
        return compileUnnest(
          {
            kind: 'unnest',
            array: { kind: 'path', names: from.path, pos: from.pos },
            pos: from.pos,
            alias: from.alias ?? rest.at(-1) ?? first,
          },
          scope,
          left,
        );
      }
      return compileTable(from, scope);
    }
    case 'appends':
      return compileAppends(from, scope);
    case 'query': {
      const { sql, columns } = compileQuery(from.query, { ...scope, ranges: [] });
      const alias = scope.state.alias();
      return { sql: `(${sql}) AS ${alias}`, ranges: [rangeOf(from.alias, alias, columns)] };
    }
    case 'unnest':
      return compileUnnest(from, scope, left);
    case 'join':
      return compileJoin(from, scope, left);
  }
}

/** Output columns of a query seen through an alias. */
export function rangeOf(name: string | undefined, alias: string, columns: readonly Column[]): Range {
  return { alias: name, columns: columns.map((column) => ({ ...column, sql: `${alias}.${column.sql}` })) };
}

function compileUnnest(from: Extract<From, { kind: 'unnest' }>, scope: Scope, left: readonly Range[]): CompiledFrom {
  const deps = new Set<string>();
  const { grouped: _grouped, aliases: _aliases, ...clean } = scope;
  const array = translate(from.array, { ...clean, ranges: left, deps, aggregates: false, windows: false });
  if (typeof array.type !== 'object' || array.type.kind !== 'array') {
    throw fail(
      scope,
      from.pos,
      `Values referenced in UNNEST must be arrays. UNNEST contains expression of type ${typeName(array.type)}`,
    );
  }
  for (const dep of deps) scope.deps.add(dep);
  const alias = scope.state.alias();
  const element = array.type.element === 'NULL' ? 'INT64' : array.type.element;
  const offset = from.offset === undefined ? '' : `, CAST(generate_subscripts(${array.sql}, 1) - 1 AS BIGINT) AS o`;
  const value: Column = { name: from.alias, sql: `${alias}.v`, type: element, deps };
  const fields: Column[] =
    typeof element === 'object' && element.kind === 'struct'
      ? element.fields.map((field) => ({
          name: field.name,
          sql: `struct_extract(${alias}.v, '${field.name}')`,
          type: field.type,
          deps,
        }))
      : [value];
  const offsets: Column[] =
    from.offset === undefined ? [] : [{ name: from.offset, sql: `${alias}.o`, type: 'INT64', deps }];
  const isStruct = typeof element === 'object';
  const range: Range = { alias: from.alias, columns: fields, ...(isStruct ? {} : { element: value }) };
  return {
    sql: `${left.length > 0 ? 'LATERAL ' : ''}(SELECT unnest(${array.sql}) AS v${offset}) AS ${alias}`,
    ranges: offsets.length > 0 ? [range, { alias: undefined, columns: offsets }] : [range],
  };
}

function compileJoin(from: Extract<From, { kind: 'join' }>, scope: Scope, before: readonly Range[]): CompiledFrom {
  const left = compileFrom(from.left, scope, before);
  const right = compileFrom(from.right, scope, [...before, ...left.ranges]);
  if (right.sql.startsWith('LATERAL') && (from.type === 'RIGHT' || from.type === 'FULL'))
    throw refuse(scope, from.pos, `${from.type} JOIN with UNNEST`);
  const names = left.ranges.flatMap((range) => (range.alias === undefined ? [] : [range.alias.toLowerCase()]));
  const twice = right.ranges.find((range) => range.alias !== undefined && names.includes(range.alias.toLowerCase()));
  if (twice) throw fail(scope, from.pos, `Duplicate table alias ${twice.alias ?? ''} in the same FROM clause`);
  let ranges: Range[] = [...left.ranges, ...right.ranges];
  const { grouped: _grouped, aliases: _aliases, ...clean } = scope;
  const inner: Scope = { ...clean, ranges, aggregates: false, windows: false };
  let condition = '';
  if (from.using) {
    const merged = from.using.map((name) => using(from, name, left.ranges, right.ranges, scope));
    condition = ` ON ${merged.map((one) => one.condition).join(' AND ')}`;
    const hidden = new Set(from.using.map((name) => name.toLowerCase()));
    const hide = (range: Range): Range => ({
      ...range,
      columns: range.columns.map((column) =>
        hidden.has(column.name?.toLowerCase() ?? '') ? { ...column, merged: true } : column,
      ),
    });
    ranges = [{ alias: undefined, columns: merged.map((one) => one.column) }, ...ranges.map(hide)];
  } else if (from.on) {
    condition = ` ON ${translateBool(from.on, inner, 'JOIN ON clause').sql}`;
    pruneJoin(from, inner, left.ranges, right.ranges);
  } else if (from.type !== 'CROSS') condition = ' ON TRUE';
  const loose = (side: readonly Range[]): boolean =>
    from.type === 'FULL' ||
    (from.type === 'LEFT' && side === right.ranges) ||
    (from.type === 'RIGHT' && side === left.ranges);
  const unprunable = new Set(
    [left.ranges, right.ranges]
      .filter(loose)
      .flat()
      .flatMap((range) => range.columns.map((column) => column.sql)),
  );
  ranges = ranges.map((range) => ({
    ...range,
    columns: range.columns.map((column) => {
      const { prunes: _prunes, ...rest } = column;
      return unprunable.has(column.sql) ? rest : column;
    }),
  }));
  const word = from.type === 'CROSS' ? 'CROSS JOIN' : `${from.type} JOIN`;
  const nested = from.right.kind === 'join' ? `(${right.sql})` : right.sql;
  return { sql: `${left.sql} ${word} ${nested}${condition}`, ranges };
}

/** ON prunes the sides that the join does not keep whole. */
function pruneJoin(
  from: Extract<From, { kind: 'join' }>,
  scope: Scope,
  left: readonly Range[],
  right: readonly Range[],
): void {
  if (!from.on) return;
  const bare = (ranges: readonly Range[]): Range[] =>
    ranges.map((range) => ({ ...range, columns: range.columns.map(({ prunes: _prunes, ...column }) => column) }));
  if (from.type === 'INNER') prune(scope, from.on);
  if (from.type === 'LEFT') prune({ ...scope, ranges: [...bare(left), ...right] }, from.on);
  if (from.type === 'RIGHT') prune({ ...scope, ranges: [...left, ...bare(right)] }, from.on);
}

function using(
  from: Extract<From, { kind: 'join' }>,
  name: string,
  left: readonly Range[],
  right: readonly Range[],
  scope: Scope,
): { condition: string; column: Column } {
  const find = (ranges: readonly Range[], side: string): Column => {
    const found = ranges.flatMap((range) =>
      range.columns.filter((column) => column.merged !== true && column.name?.toLowerCase() === name.toLowerCase()),
    );
    const [column] = found;
    if (!column || found.length > 1)
      throw fail(scope, from.pos, `Column ${name} in USING clause not found on ${side} side of join, or ambiguous`);
    return column;
  };
  const [a, b] = [find(left, 'left'), find(right, 'right')];
  for (const dep of [...a.deps, ...b.deps]) scope.deps.add(dep);
  const condition = compare(scope, '=', { sql: a.sql, type: a.type }, { sql: b.sql, type: b.type }, from.pos).sql;
  const sql = from.type === 'FULL' ? `coalesce(${a.sql}, ${b.sql})` : from.type === 'RIGHT' ? b.sql : a.sql;
  const chosen = from.type === 'RIGHT' ? b : a;
  return { condition, column: { ...chosen, sql, deps: new Set([...a.deps, ...b.deps]) } };
}
