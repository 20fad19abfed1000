import type { Expr, Path } from './ast.ts';
import { coerce } from './coerce.ts';
import { resolveType, translate } from './expression.ts';
import { fail, lookup, refuse, type Column, type Scope } from './scope.ts';
import { quote, text, typeName, type Typed } from './typing.ts';

/** The value of a column, counted as read. */
function read(scope: Scope, column: Column): Typed {
  for (const dep of column.deps) scope.deps.add(dep);
  return { sql: column.sql, type: column.type };
}

export function translatePath(path: Path, scope: Scope): Typed {
  const [first = '', ...rest] = path.names;
  const alias = scope.aliases?.get(first.toLowerCase());
  if (alias) {
    for (const dep of alias.deps) scope.deps.add(dep);
    return rest.reduce<Typed>((base, name) => member(scope, base, name, path.pos), alias);
  }
  const found = lookup(scope, first, path.pos);
  if (!found) {
    if (first.toLowerCase() === '_change_timestamp' || first.toLowerCase() === '_change_type') {
      throw fail(scope, path.pos, `Unrecognized name: ${first}; only APPENDS has it`);
    }
    throw fail(scope, path.pos, `Unrecognized name: ${first}`);
  }
  const { range } = found;
  let columns: readonly Column[] = found.column ? [found.column] : [];
  let names = rest;
  if (range && rest.length > 0) {
    const wanted = rest[0]?.toLowerCase();
    columns = range.columns.filter((column) => column.name?.toLowerCase() === wanted);
    if (columns.length === 0) throw fail(scope, path.pos, `Name ${rest[0] ?? ''} not found inside ${first}`);
    if (columns.length > 1) throw fail(scope, path.pos, `Column name ${rest[0] ?? ''} is ambiguous`);
    names = rest.slice(1);
  }
  const column = columns[0];
  if (!column) return wholeRow(scope, range?.columns ?? [], found.outer, path);
  const typed = checkedRead(scope, column, found.outer, path);
  return names.reduce<Typed>((base, name) => member(scope, base, name, path.pos), typed);
}

function checkedRead(scope: Scope, column: Column, outer: boolean, path: Path): Typed {
  if (scope.grouped && !outer && !scope.grouped.has(column.sql)) {
    throw fail(
      scope,
      path.pos,
      `SELECT list expression references column ${path.names.join('.')} which is neither grouped nor aggregated`,
    );
  }
  return read(scope, column);
}

/** A row alias is a STRUCT of its columns. */
function wholeRow(scope: Scope, columns: readonly Column[], outer: boolean, path: Path): Typed {
  return structOf(
    scope,
    columns.map((column) => ({ name: column.name ?? '', value: checkedRead(scope, column, outer, path) })),
    path.pos,
  );
}

export function structOf(scope: Scope, members: readonly { name: string; value: Typed }[], pos: number): Typed {
  const seen = new Set<string>();
  const named = members.map(({ name, value }, index) => ({ name: name || `_field_${index + 1}`, value }));
  for (const { name } of named) {
    if (seen.has(name.toLowerCase())) throw refuse(scope, pos, `A STRUCT with two fields named ${name}`);
    seen.add(name.toLowerCase());
  }
  const firm = members.map(({ name, value }, index) => ({
    name: name || `_field_${index + 1}`,
    value: value.type === 'NULL' ? coerce(scope, value, 'INT64', pos) : value,
  }));
  const parts = firm.map(({ name, value }) => `${quote(name)} := ${value.sql}`);
  if (parts.length === 0) throw refuse(scope, pos, 'A STRUCT without fields');
  const fields = firm.map(({ name, value }) => ({ name, type: value.type }));
  return {
    sql: `struct_pack(${parts.join(', ')})`,
    type: { kind: 'struct', fields },
    members: members.map((one, index) => ({ name: one.name, value: firm[index]?.value ?? one.value })),
  };
}

export function translateStruct(expr: Extract<Expr, { kind: 'struct' }>, scope: Scope): Typed {
  if (expr.types && expr.types.length !== expr.fields.length)
    throw fail(scope, expr.pos, 'STRUCT has another number of fields than its type');
  return structOf(
    scope,
    expr.fields.map((field, index) => {
      const declared = expr.types?.[index];
      const value = translate(field.value, scope, declared && resolveType(scope, declared.type));
      const own =
        field.value.kind === 'path'
          ? field.value.names.at(-1)
          : field.value.kind === 'field'
            ? field.value.name
            : undefined;
      return { name: declared?.name ?? field.name ?? own ?? '', value };
    }),
    expr.pos,
  );
}

export function member(scope: Scope, base: Typed, name: string, pos: number): Typed {
  if (base.type === 'JSON')
    return { sql: `json_extract(${base.sql}, ${text(jsonKey(scope, name, pos))})`, type: 'JSON' };
  if (typeof base.type !== 'object' || base.type.kind !== 'struct') {
    throw fail(scope, pos, `Cannot access field ${name} on a value with type ${typeName(base.type)}`);
  }
  const field = base.type.fields.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (!field) throw fail(scope, pos, `Field name ${name} does not exist in ${typeName(base.type)}`);
  const direct = base.members?.find((one) => one.name.toLowerCase() === name.toLowerCase());
  return direct?.value ?? { sql: `struct_extract(${base.sql}, ${text(field.name)})`, type: field.type };
}

function jsonKey(scope: Scope, name: string, pos: number): string {
  if (/["\\*]/.test(name)) throw refuse(scope, pos, `A JSON key with the character ${/["\\*]/.exec(name)?.[0] ?? ''}`);
  return `$."${name}"`;
}

export function translateIndex(expr: Extract<Expr, { kind: 'index' }>, scope: Scope): Typed {
  const base = translate(expr.base, scope);
  const index = translate(expr.index, scope);
  if (base.type === 'JSON' && expr.mode === '') {
    if (typeof index.value === 'string') return member(scope, base, index.value, expr.pos);
    if (typeof index.value === 'bigint' && index.value >= 0n)
      return { sql: `json_extract(${base.sql}, '$[${index.value}]')`, type: 'JSON' };
    throw refuse(scope, expr.pos, 'A JSON subscript that is no constant');
  }
  if (typeof base.type !== 'object' || base.type.kind !== 'array')
    throw fail(scope, expr.pos, `Subscript access using [] is not supported on values of type ${typeName(base.type)}`);
  const at = coerce(scope, index, 'INT64', expr.pos).sql;
  const ordinal = expr.mode.endsWith('ORDINAL');
  const position = ordinal ? at : `(${at} + 1)`;
  const { element } = base.type;
  const got = `list_extract(${base.sql}, CASE WHEN ${position} >= 1 THEN ${position} END)`;
  if (expr.mode.startsWith('SAFE')) return { sql: got, type: element };
  const out = `(${position} < 1 OR ${position} > len(${base.sql}))`;
  return {
    sql: `CASE WHEN ${out} THEN error('Array index ' || ${at} || ' is out of bounds') ELSE ${got} END`,
    type: element,
  };
}
