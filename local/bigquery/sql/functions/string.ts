import { coerce } from '../coerce.ts';
import { fail, refuse } from '../scope.ts';
import { text, typeName, type Typed } from '../typing.ts';
import { argument, arity, constantText, notSafe, simple, type Builder, type CallSite } from './builder.ts';
import { format } from './format.ts';

const length: Builder = (call) => {
  arity(call, 1);
  const value = argument(call, 0);
  if (value.type === 'BYTES') return { sql: `octet_length(${value.sql})`, type: 'INT64' };
  return { sql: `length(${coerce(call.scope, value, 'STRING', call.pos).sql})`, type: 'INT64' };
};

const trim =
  (duckdb: string): Builder =>
  (call) => {
    arity(call, 1, 2);
    const value = argument(call, 0, 'STRING').sql;
    if (call.exprs.length === 1) return { sql: `gsql_${duckdb}(${value})`, type: 'STRING' };
    return { sql: `${duckdb}(${value}, ${argument(call, 1, 'STRING').sql})`, type: 'STRING' };
  };

const pad = (duckdb: string): Builder =>
  simple(
    'STRING, INT64, STRING?',
    'STRING',
    (s, n, p = "' '") => `${duckdb}(${s ?? ''}, gsql_pad_check(${n ?? ''}, ${p}), ${p})`,
  );

/** The pattern, which has to be constant so that its groups can be counted. */
function pattern(call: CallSite): { sql: string; groups: number } {
  const source = constantText(call, 1, 'pattern');
  const bare = source.replace(/\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]])*\]/g, '');
  if (/\(\?(?![:Pimsu-])|\(\?[<=!]/.test(bare))
    throw fail(call.scope, call.pos, `Cannot parse regular expression: ${source}`);
  const groups = bare.match(/\((?!\?)|\(\?P</g)?.length ?? 0;
  return { sql: text(source), groups };
}

const regexpExtract: Builder = (call) => {
  arity(call, 2);
  notSafe(call);
  const value = argument(call, 0, 'STRING').sql;
  const { sql, groups } = pattern(call);
  if (groups > 1) throw fail(call.scope, call.pos, 'Regular expression has more than 1 capturing group');
  // An optional group that took no part is NULL in GoogleSQL and '' in DuckDB; a group that may be empty is neither.
  const got = `regexp_extract(${value}, ${sql}, ${groups})`;
  const found = groups === 0 ? got : `nullif(${got}, '')`;
  return { sql: `CASE WHEN regexp_matches(${value}, ${sql}) THEN ${found} END`, type: 'STRING' };
};

const split: Builder = (call) => {
  arity(call, 1, 2);
  const value = argument(call, 0, 'STRING').sql;
  const by = call.exprs.length === 2 ? argument(call, 1, 'STRING').sql : "','";
  return { sql: `string_split(${value}, ${by})`, type: { kind: 'array', element: 'STRING' } };
};

const concat: Builder = (call) => {
  arity(call, 1, 1000);
  const args = call.exprs.map((_, index) => argument(call, index));
  const type = args.some((arg) => arg.type === 'BYTES') ? 'BYTES' : 'STRING';
  const values: Typed[] = args.map((arg) => coerce(call.scope, arg, type, call.pos, `Argument of CONCAT`));
  return { sql: `(${values.map((value) => value.sql).join(' || ')})`, type };
};

const substr: Builder = (call) => {
  arity(call, 2, 3);
  notSafe(call);
  const value = argument(call, 0);
  if (value.type === 'BYTES') throw refuse(call.scope, call.pos, `SUBSTR of ${typeName(value.type)}`);
  const s = coerce(call.scope, value, 'STRING', call.pos).sql;
  const start = argument(call, 1, 'INT64').sql;
  if (call.exprs.length === 2) return { sql: `gsql_substr2(${s}, ${start})`, type: 'STRING' };
  return { sql: `gsql_substr3(${s}, ${start}, ${argument(call, 2, 'INT64').sql})`, type: 'STRING' };
};

export const STRINGS: Record<string, Builder> = {
  CONCAT: concat,
  LOWER: simple('STRING', 'STRING', (s) => `lower(${s ?? ''})`),
  UPPER: simple('STRING', 'STRING', (s) => `upper(${s ?? ''})`),
  LENGTH: length,
  CHAR_LENGTH: simple('STRING', 'INT64', (s) => `length(${s ?? ''})`),
  BYTE_LENGTH: simple('STRING', 'INT64', (s) => `strlen(${s ?? ''})`),
  TRIM: trim('trim'),
  LTRIM: trim('ltrim'),
  RTRIM: trim('rtrim'),
  SUBSTR: substr,
  SUBSTRING: substr,
  LEFT: simple('STRING, INT64', 'STRING', (s, n) => `gsql_substr3(${s ?? ''}, 1, ${n ?? ''})`),
  REPLACE: simple('STRING, STRING, STRING', 'STRING', (s, a, b) => `replace(${s ?? ''}, ${a ?? ''}, ${b ?? ''})`),
  STARTS_WITH: simple('STRING, STRING', 'BOOL', (s, p) => `starts_with(${s ?? ''}, ${p ?? ''})`),
  ENDS_WITH: simple('STRING, STRING', 'BOOL', (s, p) => `ends_with(${s ?? ''}, ${p ?? ''})`),
  STRPOS: simple('STRING, STRING', 'INT64', (s, p) => `CAST(strpos(${s ?? ''}, ${p ?? ''}) AS BIGINT)`),
  SPLIT: split,
  LPAD: pad('lpad'),
  RPAD: pad('rpad'),
  FORMAT: format,
  REGEXP_CONTAINS: (call) => {
    arity(call, 2);
    notSafe(call);
    return { sql: `regexp_matches(${argument(call, 0, 'STRING').sql}, ${pattern(call).sql})`, type: 'BOOL' };
  },
  REGEXP_EXTRACT: regexpExtract,
  REGEXP_REPLACE: (call) => {
    arity(call, 3);
    notSafe(call);
    const by = constantText(call, 2, 'replacement');
    if (!/^(?:[^\\]|\\[0-9\\])*$/.test(by)) throw fail(call.scope, call.pos, `Invalid REGEXP_REPLACE pattern ${by}`);
    return {
      sql: `regexp_replace(${argument(call, 0, 'STRING').sql}, ${pattern(call).sql}, ${text(by)}, 'g')`,
      type: 'STRING',
    };
  },
};
