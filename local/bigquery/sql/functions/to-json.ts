import { quote, text, type Type, type Typed } from '../typing.ts';
import type { CallSite } from './builder.ts';

/** The expression of a value's JSON text; never NULL. */
export function toJson(call: CallSite, value: Typed, depth = 0): string {
  if (value.members) {
    const parts = value.members.map(({ name, value: member }) => `${key(name)} || ${toJson(call, member, depth)}`);
    return `('{' || ${parts.join(" || ',' || ")} || '}')`;
  }
  return `coalesce(${present(call, value.sql, value.type, depth)}, 'null')`;
}

function key(name: string): string {
  return text(`${JSON.stringify(name)}:`);
}

function present(call: CallSite, sql: string, type: Type, depth: number): string {
  if (typeof type === 'object' && type.kind === 'array') {
    const item = `x${depth}`;
    const inner = toJson(call, { sql: item, type: type.element }, depth + 1);
    return `CASE WHEN ${sql} IS NOT NULL THEN '[' || array_to_string(list_transform(${sql}, lambda ${item}: ${inner}), ',') || ']' END`;
  }
  if (typeof type === 'object') {
    const parts = type.fields.map(
      (field) =>
        `${key(field.name)} || ${toJson(call, { sql: `${sql}.${quote(field.name)}`, type: field.type }, depth)}`,
    );
    return `CASE WHEN ${sql} IS NOT NULL THEN '{' || ${parts.join(" || ',' || ")} || '}' END`;
  }
  switch (type) {
    case 'NULL':
      // NULL, or ERROR().
      return `CAST(${sql} AS VARCHAR)`;
    case 'STRING':
      return `gsql_quote(${sql})`;
    case 'INT64':
      return `gsql_int_json(${sql})`;
    case 'FLOAT64':
      return `gsql_float_json(${sql})`;
    case 'NUMERIC':
      return `gsql_numeric_json(${sql})`;
    case 'BOOL':
      return `CAST(${sql} AS VARCHAR)`;
    case 'TIMESTAMP':
      return `gsql_timestamp_json(${sql})`;
    case 'DATE':
      return `strftime(${sql}, '"%Y-%m-%d"')`;
    case 'DATETIME':
      return `replace(gsql_timestamp_json(${sql} AT TIME ZONE 'UTC'), 'Z"', '"')`;
    case 'TIME':
      return `'"' || regexp_replace(CAST(${sql} AS VARCHAR), '(\\.[0-9]{3})000$', '\\1') || '"'`;
    case 'BYTES':
      return `'"' || base64(${sql}) || '"'`;
    case 'JSON':
      return `gsql_json_canonical(${sql})`;
  }
}
