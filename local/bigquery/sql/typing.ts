import type { Field, FieldType } from './types.ts';

export type Scalar =
  'STRING' | 'BYTES' | 'INT64' | 'FLOAT64' | 'NUMERIC' | 'BOOL' | 'TIMESTAMP' | 'DATE' | 'TIME' | 'DATETIME' | 'JSON';

export interface StructField {
  readonly name: string;
  readonly type: Type;
}

/** A GoogleSQL type; `NULL` is that of the bare literal. */
export type Type =
  | Scalar
  | 'NULL'
  | { readonly kind: 'array'; readonly element: Type }
  | { readonly kind: 'struct'; readonly fields: readonly StructField[] };

/** A translated expression. */
export interface Typed {
  /** DuckDB text that stands alone as an operand. */
  readonly sql: string;
  readonly type: Type;
  /** Literals and parameters convert to more types than other expressions do. */
  readonly fixed?: 'literal' | 'parameter';
  /** The value of a literal or parameter: text; INT64, TIMESTAMP (microseconds) and DATE (days) as bigint; NULL as null. */
  readonly value?: string | bigint | null | readonly (string | null)[];
  /** Members of a row or STRUCT expression, to avoid building it. */
  readonly members?: readonly { readonly name: string; readonly value: Typed }[];
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A DuckDB string literal; NUL cannot stand in SQL text. */
export function text(value: string): string {
  const parts = value.split('\0').map((part) => `'${part.replaceAll("'", "''")}'`);
  return parts.length === 1 ? (parts[0] ?? "''") : `(${parts.join(' || chr(0) || ')})`;
}

export function typeName(type: Type): string {
  if (typeof type === 'string') return type === 'NULL' ? 'NULL' : type;
  if (type.kind === 'array') return `ARRAY<${typeName(type.element)}>`;
  return `STRUCT<${type.fields.map((field) => `${field.name} ${typeName(field.type)}`).join(', ')}>`;
}

export function sameType(a: Type, b: Type): boolean {
  return typeName(a).toLowerCase() === typeName(b).toLowerCase();
}

const DUCKDB: Record<Scalar, string> = {
  STRING: 'VARCHAR',
  BYTES: 'BLOB',
  INT64: 'BIGINT',
  FLOAT64: 'DOUBLE',
  NUMERIC: 'DECIMAL(38, 9)',
  BOOL: 'BOOLEAN',
  TIMESTAMP: 'TIMESTAMPTZ',
  DATE: 'DATE',
  TIME: 'TIME',
  DATETIME: 'TIMESTAMP',
  JSON: 'JSON',
};

export function duckdbType(type: Type): string {
  if (type === 'NULL') return 'BIGINT';
  if (typeof type === 'string') return DUCKDB[type];
  if (type.kind === 'array') return `${duckdbType(type.element)}[]`;
  return `STRUCT(${type.fields.map((field) => `${quote(field.name)} ${duckdbType(field.type)}`).join(', ')})`;
}

const FROM_FIELD: Record<Exclude<FieldType, 'RECORD'>, Scalar> = {
  STRING: 'STRING',
  BYTES: 'BYTES',
  INTEGER: 'INT64',
  FLOAT: 'FLOAT64',
  NUMERIC: 'NUMERIC',
  BOOLEAN: 'BOOL',
  TIMESTAMP: 'TIMESTAMP',
  DATE: 'DATE',
  TIME: 'TIME',
  DATETIME: 'DATETIME',
  JSON: 'JSON',
};

export function fieldType(field: Field): Type {
  const one: Type =
    field.type === 'RECORD'
      ? { kind: 'struct', fields: (field.fields ?? []).map((inner) => ({ name: inner.name, type: fieldType(inner) })) }
      : FROM_FIELD[field.type];
  return field.mode === 'REPEATED' ? { kind: 'array', element: one } : one;
}

const TO_FIELD = Object.fromEntries(Object.entries(FROM_FIELD).map(([field, type]) => [type, field])) as Record<
  Scalar,
  FieldType
>;

/** The REST form of an output column. */
export function toField(name: string, type: Type): Field {
  if (type === 'NULL') return { name, type: 'INTEGER', mode: 'NULLABLE' };
  if (typeof type === 'string') return { name, type: TO_FIELD[type], mode: 'NULLABLE' };
  if (type.kind === 'array') return { ...toField(name, type.element), mode: 'REPEATED' };
  return {
    name,
    type: 'RECORD',
    mode: 'NULLABLE',
    fields: type.fields.map((field) => toField(field.name, field.type)),
  };
}

const NUMBERS: Type[] = ['INT64', 'NUMERIC', 'FLOAT64'];
const FROM_TEXT: Type[] = ['TIMESTAMP', 'DATE', 'DATETIME', 'TIME'];

/** Whether a value converts to a type by itself. */
export function converts(value: Typed, to: Type): boolean {
  const from = value.type;
  if (from === 'NULL' || sameType(from, to)) return true;
  if (NUMBERS.includes(from) && NUMBERS.includes(to)) {
    return (
      NUMBERS.indexOf(from) < NUMBERS.indexOf(to) ||
      (value.fixed === 'literal' && from === 'FLOAT64' && to === 'NUMERIC')
    );
  }
  if (from === 'STRING' && value.fixed !== undefined)
    return FROM_TEXT.includes(to) || (to === 'BYTES' && value.fixed === 'literal');
  if (from === 'DATE' && (to === 'DATETIME' || to === 'TIMESTAMP')) return to === 'DATETIME';
  if (typeof from === 'object' && typeof to === 'object' && from.kind === 'array' && to.kind === 'array') {
    return from.element === 'NULL';
  }
  return false;
}

/** The type that all values convert to. */
export function commonType(values: readonly Typed[]): Type | undefined {
  const typed = values.filter((value) => value.type !== 'NULL');
  if (typed.length === 0) return 'INT64';
  const firm = typed.filter((value) => value.fixed === undefined);
  for (const { type } of [...firm, ...typed]) if (values.every((value) => converts(value, type))) return type;
  for (const type of ['NUMERIC', 'FLOAT64'] as const) if (values.every((value) => converts(value, type))) return type;
  return undefined;
}
