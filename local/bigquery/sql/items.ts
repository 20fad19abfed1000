import type { Expr, SelectItem } from './ast.ts';
import { translate } from './expression.ts';
import { fail, lookup, type Column, type ScanState, type Scope } from './scope.ts';
import { quote, type Typed } from './typing.ts';

export interface Item {
  readonly name: string | undefined;
  readonly value: Typed;
  readonly expr?: Expr;
  /** The partitioning column that the item passes on. */
  readonly prunes?: ScanState;
}

/** The name that an item has without an alias. */
export function impliedName(value: Expr): string | undefined {
  if (value.kind === 'path') return value.names.at(-1);
  return value.kind === 'field' ? value.name : undefined;
}

/** SELECT items with stars spelled out. */
export function expandItems(items: readonly SelectItem[], scope: Scope, one: (value: Expr) => Typed): Item[] {
  return items.flatMap((item): Item[] => {
    if (item.kind === 'expr') {
      const name = item.alias ?? impliedName(item.value);
      const prunes = item.value.kind === 'path' ? columnOf(item.value.names, scope, item.pos)?.prunes : undefined;
      return [{ name, value: one(item.value), expr: item.value, ...(prunes && { prunes }) }];
    }
    const all = starColumns(item, scope);
    if (all.length === 0) throw fail(scope, item.pos, 'SELECT * must have a FROM clause');
    const known = new Set(all.map((column) => column.name?.toLowerCase()));
    for (const name of [...item.except, ...item.replace.map((replaced) => replaced.name)]) {
      if (!known.has(name.toLowerCase()))
        throw fail(scope, item.pos, `Column ${name} in SELECT * EXCEPT or REPLACE list does not exist`);
    }
    const except = new Set(item.except.map((name) => name.toLowerCase()));
    const left = all.filter((column) => !except.has(column.name?.toLowerCase() ?? ''));
    if (left.length === 0) throw fail(scope, item.pos, 'SELECT * EXCEPT leaves no column');
    return left.map((column): Item => {
      const replaced = item.replace.find(({ name }) => name.toLowerCase() === column.name?.toLowerCase());
      if (replaced) return { name: column.name, value: one(replaced.value), expr: replaced.value };
      if (scope.grouped && !scope.grouped.has(column.sql)) {
        throw fail(
          scope,
          item.pos,
          `Star expansion expression references column ${column.name ?? ''} which is neither grouped nor aggregated`,
        );
      }
      return { name: column.name, value: columnValue(column), ...(column.prunes && { prunes: column.prunes }) };
    });
  });
}

/** Columns read through a star carry what they depend on with them. */
const DEPS = new WeakMap<Typed, ReadonlySet<string>>();

function columnValue(column: Column): Typed {
  const value: Typed = { sql: column.sql, type: column.type };
  DEPS.set(value, column.deps);
  return value;
}

export function starDeps(value: Typed): ReadonlySet<string> | undefined {
  return DEPS.get(value);
}

function columnOf(names: readonly string[], scope: Scope, pos: number): Column | undefined {
  const found = lookup(scope, names[0] ?? '', pos);
  if (!found || found.outer || names.length > 2) return undefined;
  if (names.length === 1) return found.column;
  return found.range?.columns.find((column) => column.name?.toLowerCase() === names[1]?.toLowerCase());
}

function starColumns(item: Extract<SelectItem, { kind: 'star' }>, scope: Scope): readonly Column[] {
  const { base } = item;
  if (!base) return scope.ranges.flatMap((range) => range.columns.filter((column) => column.merged !== true));
  if (base.kind === 'path' && base.names.length === 1) {
    const found = lookup(scope, base.names[0] ?? '', item.pos);
    if (found?.range) return found.range.columns;
  }
  const deps = new Set<string>();
  const value = translate(base, { ...scope, deps });
  if (typeof value.type !== 'object' || value.type.kind !== 'struct')
    throw fail(scope, item.pos, 'Dot-star is not supported for this type');
  return value.type.fields.map((field) => ({
    name: field.name,
    sql: `${value.sql}.${quote(field.name)}`,
    type: field.type,
    deps,
  }));
}
