import type { Expr, TypeName } from './ast.ts';
import { translateCall } from './call.ts';
import { castTo } from './cast.ts';
import { coerce, constant, nullOf, unify } from './coerce.ts';
import { arithmetic, compare, comparable } from './operators.ts';
import { member, translateIndex, translatePath, translateStruct } from './paths.ts';
import { extract } from './functions/extract.ts';
import { translateSubquery } from './subquery.ts';
import { fail, refuse, type Scope } from './scope.ts';
import { typeName, type Scalar, type Type, type Typed } from './typing.ts';
import { walk } from './walk.ts';

/**
 * Translates an expression to DuckDB and infers its type.
 * @param wanted type that the place needs, for literals, parameters and NULL
 * @throws SqlError
 */
export function translate(expr: Expr, scope: Scope, wanted?: Type): Typed {
  const typed = groupedMatch(expr, scope) ?? translateKind(expr, scope);
  return wanted === undefined ? typed : coerce(scope, typed, wanted, expr.pos);
}

export function translateBool(expr: Expr, scope: Scope, what: string): Typed {
  return coerce(scope, translate(expr, scope), 'BOOL', expr.pos, what);
}

/** An expression that GROUP BY names stands for its group's value. */
function groupedMatch(expr: Expr, scope: Scope): Typed | undefined {
  if (!scope.grouped || scope.grouped.size === 0 || expr.kind === 'literal' || expr.kind === 'param') return undefined;
  if (walk(expr, (node) => node.kind === 'subquery' || node.kind === 'in' || (node.kind === 'call' && !!node.over)))
    return undefined;
  const deps = new Set<string>();
  const { grouped, ...rest } = scope;
  let plain: Typed;
  try {
    plain = translateKind(expr, { ...rest, aggregates: false, windows: false, deps });
  } catch {
    return undefined;
  }
  if (!grouped.has(plain.sql)) return undefined;
  for (const dep of deps) scope.deps.add(dep);
  return plain;
}

function translateKind(expr: Expr, scope: Scope): Typed {
  const { pos } = expr;
  switch (expr.kind) {
    case 'literal':
      if (expr.type === 'NULL') return { sql: 'NULL', type: 'NULL', fixed: 'literal', value: null };
      if (expr.type === 'BYTES') return { sql: `unhex('${expr.value}')`, type: 'BYTES', fixed: 'literal' };
      return constant(scope, expr.type, expr.value, pos, 'literal');
    case 'typed':
      return constant(scope, expr.type as Scalar, expr.value, pos);
    case 'param':
      return parameter(scope, expr.name, pos);
    case 'path':
      return translatePath(expr, scope);
    case 'field':
      return member(scope, translate(expr.base, scope), expr.name, pos);
    case 'index':
      return translateIndex(expr, scope);
    case 'unary':
      if (expr.op === 'NOT') return { sql: `(NOT ${translateBool(expr.arg, scope, 'NOT').sql})`, type: 'BOOL' };
      return arithmetic(scope, '-', [constant(scope, 'INT64', '0', pos, 'literal'), translate(expr.arg, scope)], pos);
    case 'binary':
      return translateBinary(expr, scope);
    case 'is': {
      const arg = expr.what === 'NULL' ? translate(expr.arg, scope) : translateBool(expr.arg, scope, `IS ${expr.what}`);
      return { sql: `(${arg.sql} IS ${expr.not ? 'NOT ' : ''}${expr.what})`, type: 'BOOL' };
    }
    case 'between': {
      const arg = translate(expr.arg, scope);
      const low = compare(scope, '>=', arg, translate(expr.low, scope), pos);
      const high = compare(scope, '<=', arg, translate(expr.high, scope), pos);
      return { sql: `${expr.not ? '(NOT ' : ''}(${low.sql} AND ${high.sql})${expr.not ? ')' : ''}`, type: 'BOOL' };
    }
    case 'in':
      return translateIn(expr, scope);
    case 'case':
      return translateCase(expr, scope);
    case 'cast':
      return castTo(scope, translate(expr.arg, scope), resolveType(scope, expr.type), expr.safe, pos);
    case 'extract':
      return extract(scope, expr, translate(expr.arg, scope));
    case 'interval':
      throw refuse(scope, pos, 'INTERVAL outside of a date function');
    case 'array': {
      const items = expr.items.map((item) => translate(item, scope));
      if (expr.element) return arrayOf(scope, items, resolveType(scope, expr.element), pos);
      if (items.length === 0)
        return { sql: 'CAST([] AS BIGINT[])', type: { kind: 'array', element: 'NULL' }, fixed: 'literal' };
      const { type, values } = unify(scope, items, pos, 'array literal');
      return arrayOf(scope, values, type, pos);
    }
    case 'struct':
      return translateStruct(expr, scope);
    case 'subquery':
      return translateSubquery(expr, scope);
    case 'call':
      return translateCall(expr, scope);
  }
}

function arrayOf(scope: Scope, items: readonly Typed[], element: Type, pos: number): Typed {
  if (typeof element === 'object' && element.kind === 'array')
    throw fail(scope, pos, 'Cannot construct array with element type ARRAY because nested arrays are not supported');
  const values = items.map((item) => coerce(scope, item, element, pos, 'Array element').sql);
  const type: Type = { kind: 'array', element };
  return { sql: values.length > 0 ? `[${values.join(', ')}]` : emptyArray(type), type };
}

function emptyArray(type: Type): string {
  return nullOf(type).sql.replace('NULL', '[]');
}

function parameter(scope: Scope, name: string, pos: number): Typed {
  const found = scope.view
    ? undefined
    : scope.state.context.parameters.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (!found) throw fail(scope, pos, `Query parameter '${name}' not found`);
  const { value } = found;
  if (found.type === 'ARRAY') {
    const element = (found.element ?? 'STRING') as Scalar;
    const type: Type = { kind: 'array', element };
    if (value === null || typeof value === 'string') return { ...nullOf(type), fixed: 'parameter' };
    const items = value.map((item) => (item === null ? nullOf(element) : constant(scope, element, item, pos)).sql);
    return { sql: items.length > 0 ? `[${items.join(', ')}]` : emptyArray(type), type, fixed: 'parameter', value };
  }
  const type = found.type as Scalar;
  if (value === null) return { ...nullOf(type), fixed: 'parameter' };
  if (typeof value !== 'string') throw fail(scope, pos, `Query parameter '${name}' has an array value`);
  return constant(scope, type, value, pos, 'parameter');
}

function translateBinary(expr: Extract<Expr, { kind: 'binary' }>, scope: Scope): Typed {
  const { op, pos } = expr;
  if (op === 'AND' || op === 'OR') {
    const left = translateBool(expr.left, scope, op);
    return { sql: `(${left.sql} ${op} ${translateBool(expr.right, scope, op).sql})`, type: 'BOOL' };
  }
  const left = translate(expr.left, scope);
  const right = translate(expr.right, scope);
  if (op === 'LIKE') {
    const [value, pattern] = [coerce(scope, left, 'STRING', pos), coerce(scope, right, 'STRING', pos)];
    if (typeof pattern.value === 'string' && /^(?:[^\\]|\\[^])*\\$/.test(pattern.value)) {
      throw fail(scope, pos, 'LIKE pattern ends with a backslash');
    }
    return { sql: `(${value.sql} LIKE ${pattern.sql} ESCAPE '\\')`, type: 'BOOL' };
  }
  return ['=', '!=', '<', '<=', '>', '>='].includes(op)
    ? compare(scope, op, left, right, pos)
    : arithmetic(scope, op, [left, right], pos);
}

function translateIn(expr: Extract<Expr, { kind: 'in' }>, scope: Scope): Typed {
  const arg = translate(expr.arg, scope);
  const not = expr.not ? 'NOT ' : '';
  if (expr.list) {
    const { values } = unify(scope, [arg, ...expr.list.map((item) => translate(item, scope))], expr.pos, 'operator IN');
    comparable(scope, values, expr.pos);
    return {
      sql: `(${values[0]?.sql ?? ''} ${not}IN (${values
        .slice(1)
        .map((value) => value.sql)
        .join(', ')}))`,
      type: 'BOOL',
    };
  }
  const subquery = expr.query
    ? translateSubquery({ kind: 'subquery', mode: 'scalar', query: expr.query, pos: expr.pos }, scope, 'IN')
    : undefined;
  const array = expr.unnest ? translate(expr.unnest, scope) : undefined;
  const element = subquery
    ? subquery.type
    : typeof array?.type === 'object' && array.type.kind === 'array'
      ? array.type.element
      : undefined;
  if (element === undefined) throw fail(scope, expr.pos, 'The argument of IN UNNEST must be an array');
  const item: Typed = { sql: 'NULL', type: element };
  const { type, values } = unify(scope, [arg, item], expr.pos, 'operator IN');
  comparable(scope, values, expr.pos);
  if (element !== 'NULL' && typeName(type) !== typeName(element))
    throw refuse(scope, expr.pos, `IN of ${typeName(arg.type)} over ${typeName(element)}`);
  const rows = subquery ? subquery.sql : `(SELECT unnest(${array?.sql ?? ''}))`;
  return { sql: `(${values[0]?.sql ?? ''} ${not}IN ${rows})`, type: 'BOOL' };
}

function translateCase(expr: Extract<Expr, { kind: 'case' }>, scope: Scope): Typed {
  const operand = expr.operand && translate(expr.operand, scope);
  const conditions = expr.whens.map(([when]) =>
    operand
      ? compare(scope, '=', operand, translate(when, scope), when.pos)
      : translateBool(when, scope, 'CASE condition'),
  );
  const results = expr.whens.map(([, then]) => translate(then, scope));
  if (expr.otherwise) results.push(translate(expr.otherwise, scope));
  const { type, values } = unify(scope, results, expr.pos, 'CASE');
  const whens = conditions.map((condition, index) => `WHEN ${condition.sql} THEN ${values[index]?.sql ?? 'NULL'}`);
  const otherwise = expr.otherwise ? ` ELSE ${values.at(-1)?.sql ?? 'NULL'}` : '';
  return { sql: `CASE ${whens.join(' ')}${otherwise} END`, type };
}

const NAMES: Record<string, Scalar> = {
  STRING: 'STRING',
  BYTES: 'BYTES',
  INT64: 'INT64',
  INT: 'INT64',
  INTEGER: 'INT64',
  BIGINT: 'INT64',
  SMALLINT: 'INT64',
  TINYINT: 'INT64',
  BYTEINT: 'INT64',
  FLOAT64: 'FLOAT64',
  NUMERIC: 'NUMERIC',
  DECIMAL: 'NUMERIC',
  BOOL: 'BOOL',
  BOOLEAN: 'BOOL',
  TIMESTAMP: 'TIMESTAMP',
  DATE: 'DATE',
  DATETIME: 'DATETIME',
  TIME: 'TIME',
  JSON: 'JSON',
};

export function resolveType(scope: Scope, name: TypeName): Type {
  if (name.kind === 'array') return { kind: 'array', element: resolveType(scope, name.element) };
  if (name.kind === 'struct')
    return {
      kind: 'struct',
      fields: name.fields.map((field) => ({ name: field.name, type: resolveType(scope, field.type) })),
    };
  const type = NAMES[name.name];
  if (!type) throw refuse(scope, name.pos, `The type ${name.name}`);
  return type;
}
