import { coerce } from '../coerce.ts';
import { fail, refuse } from '../scope.ts';
import { text, typeName, type Typed } from '../typing.ts';
import { argument, arity, constantText, notSafe, type Builder, type CallSite } from './builder.ts';
import { toJson } from './to-json.ts';

/** Turns a constant GoogleSQL JSONPath into one of DuckDB. */
function jsonPath(call: CallSite, legacy: boolean): string {
  if (call.exprs.length < 2) return "'$'";
  const source = constantText(call, 1, 'JSONPath');
  if (!source.startsWith('$')) throw fail(call.scope, call.pos, `JSONPath must start with '$'`);
  let path = '';
  const step = /\.([\w-]+)|\."((?:[^"\\])*)"|\['([^'\\]*)'\]|\[(\d+)\]/y;
  step.lastIndex = 1;
  while (step.lastIndex < source.length) {
    const at = step.lastIndex;
    const match = step.exec(source);
    if (!match || (match[3] !== undefined && !legacy) || (match[2] !== undefined && legacy)) {
      throw refuse(call.scope, call.pos, `The JSONPath token at: ${source.slice(at)}`);
    }
    const key = match[1] ?? match[2] ?? match[3] ?? match[4] ?? '';
    if (key === '' || key === '-') throw refuse(call.scope, call.pos, `The JSONPath key "${key}"`);
    path += `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  // A pointer finds an index as a name too, as GoogleSQL does.
  return text(path || '$');
}

/** JSON text or a JSON value as something that DuckDB reads; broken text is NULL. */
function document(call: CallSite): { json: string; isText: boolean } {
  const value = argument(call, 0);
  if (value.type === 'JSON') return { json: value.sql, isText: false };
  const { sql } = coerce(call.scope, value, 'STRING', call.pos, `Argument 1 of ${call.name}`);
  return { json: `CASE WHEN json_valid(${sql}) THEN CAST(${sql} AS JSON) END`, isText: true };
}

const value =
  (legacy: boolean): Builder =>
  (call) => {
    arity(call, 1, 2);
    const { json, isText } = document(call);
    return {
      sql: `gsql_json_scalar(${json}, ${jsonPath(call, legacy)}${isText ? ', TRUE' : ', FALSE'})`,
      type: 'STRING',
    };
  };

const query =
  (legacy: boolean): Builder =>
  (call) => {
    arity(call, 1, 2);
    const { json, isText } = document(call);
    if (!isText) return { sql: `json_extract(${json}, ${jsonPath(call, legacy)})`, type: 'JSON' };
    return { sql: `gsql_json_text(${json}, ${jsonPath(call, legacy)})`, type: 'STRING' };
  };

const queryArray: Builder = (call) => {
  arity(call, 1, 2);
  const { json, isText } = document(call);
  const list = `gsql_json_array(${json}, ${jsonPath(call, false)}, ${isText ? 'TRUE' : 'FALSE'})`;
  if (!isText) return { sql: list, type: { kind: 'array', element: 'JSON' } };
  return {
    sql: `list_transform(${list}, lambda x: gsql_json_text(x, '$'))`,
    type: { kind: 'array', element: 'STRING' },
  };
};

const valueArray: Builder = (call) => {
  arity(call, 1, 2);
  const { json, isText } = document(call);
  const list = `gsql_json_array(${json}, ${jsonPath(call, false)}, ${isText ? 'TRUE' : 'FALSE'})`;
  const scalars = `list_transform(${list}, lambda x: gsql_json_scalar(x, '$', FALSE))`;
  const nested = `list_bool_or(list_transform(${list}, lambda x: json_type(x) IN ('OBJECT', 'ARRAY')))`;
  return { sql: `CASE WHEN ${nested} THEN NULL ELSE ${scalars} END`, type: { kind: 'array', element: 'STRING' } };
};

const convert =
  (macro: string, type: 'INT64' | 'FLOAT64' | 'STRING' | 'BOOL'): Builder =>
  (call) => {
    arity(call, 1);
    notSafe(call);
    const arg = argument(call, 0);
    if (arg.type !== 'JSON')
      throw fail(
        call.scope,
        call.pos,
        `No matching signature for function ${call.name} for argument types: ${typeName(arg.type)}`,
      );
    return { sql: `${macro}(${arg.sql})`, type };
  };

export const JSONS: Record<string, Builder> = {
  JSON_VALUE: value(false),
  JSON_EXTRACT_SCALAR: value(true),
  JSON_QUERY: query(false),
  JSON_EXTRACT: query(true),
  JSON_QUERY_ARRAY: queryArray,
  JSON_VALUE_ARRAY: valueArray,
  PARSE_JSON: (call): Typed => {
    arity(call, 1);
    const { sql } = argument(call, 0, 'STRING');
    const broken = call.safe ? 'NULL' : `error('Invalid input to PARSE_JSON: syntax error')`;
    return {
      sql: `CASE WHEN ${sql} IS NULL THEN NULL WHEN json_valid(${sql}) THEN CAST(${sql} AS JSON) ELSE ${broken} END`,
      type: 'JSON',
    };
  },
  TO_JSON_STRING: (call): Typed => {
    arity(call, 1);
    return { sql: toJson(call, argument(call, 0)), type: 'STRING' };
  },
  LAX_INT64: convert('gsql_lax_int', 'INT64'),
  LAX_FLOAT64: convert('gsql_lax_float', 'FLOAT64'),
  LAX_STRING: convert('gsql_lax_string', 'STRING'),
  LAX_BOOL: convert('gsql_lax_bool', 'BOOL'),
};
