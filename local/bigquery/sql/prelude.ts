/**
 * DuckDB macros for what GoogleSQL does differently; run once per database before the first statement.
 * Every session has to run with `SET TimeZone = 'UTC'`.
 */
const macro = (head: string, body: string): string => `CREATE OR REPLACE MACRO ${head} AS ${body}`;

const SPACES = String.raw`[\s\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{0B}]`;

export const PRELUDE: readonly string[] = [
  // Numbers
  macro(
    'gsql_int(s)',
    String.raw`CASE WHEN regexp_full_match(s, '\s*[+-]?([0-9]+|0[xX][0-9a-fA-F]+)\s*') THEN
    CASE WHEN regexp_full_match(s, '\s*-0[xX].*') THEN -TRY_CAST(replace(trim(s, e' \t\n\r\f\v'), '-', '') AS BIGINT)
    ELSE TRY_CAST(ltrim(trim(s, e' \t\n\r\f\v'), '+') AS BIGINT) END END`,
  ),
  macro(
    'gsql_float(s)',
    String.raw`CASE WHEN regexp_full_match(s, '\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*')
    THEN TRY_CAST(trim(s, e' \t\n\r\f\v') AS DOUBLE)
    WHEN regexp_full_match(s, '(?i)\s*[+-]?(inf|infinity|nan)\s*') THEN TRY_CAST(ltrim(trim(s, e' \t\n\r\f\v'), '+') AS DOUBLE) END`,
  ),
  macro(
    'gsql_numeric(s)',
    String.raw`CASE WHEN regexp_full_match(s, '\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*')
    THEN TRY_CAST(trim(s, e' \t\n\r\f\v') AS DECIMAL(38, 9)) END`,
  ),
  macro('gsql_bool(s)', `CASE lower(s) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END`),
  macro(
    'gsql_finite(r, a, b)',
    `CASE WHEN isinf(r) AND NOT isinf(a) AND NOT isinf(b) THEN error('double overflow') ELSE r END`,
  ),
  // As many of 15 digits as there are where those give the value back, else 17.
  macro(
    'gsql_float_string(x)',
    `CASE WHEN x = 0 THEN '0' WHEN isnan(x) OR isinf(x) THEN CAST(x AS VARCHAR)
    WHEN CAST(format('{:.15g}', x) AS DOUBLE) = x THEN format('{:.15g}', x) ELSE format('{:.17g}', x) END`,
  ),
  macro('gsql_numeric_text(x)', String.raw`regexp_replace(CAST(x AS VARCHAR), '\.?0+$', '')`),
  // Strings
  macro('gsql_trim(s)', `regexp_replace(regexp_replace(s, '^${SPACES}+', ''), '${SPACES}+$', '')`),
  macro('gsql_ltrim(s)', `regexp_replace(s, '^${SPACES}+', '')`),
  macro('gsql_rtrim(s)', `regexp_replace(s, '${SPACES}+$', '')`),
  macro('gsql_start(s, p)', `CASE WHEN p > 0 THEN p WHEN p = 0 THEN 1 ELSE greatest(length(s) + p + 1, 1) END`),
  macro('gsql_substr2(s, p)', `substring(s, gsql_start(s, p))`),
  macro(
    'gsql_substr3(s, p, n)',
    `CASE WHEN n < 0 THEN error('Third argument in SUBSTR() cannot be negative')
    ELSE substring(s, gsql_start(s, p), least(n, 4294967295)) END`,
  ),
  macro(
    'gsql_pad_check(n, p)',
    `CASE WHEN n < 0 THEN error('Second argument (output size) for LPAD/RPAD cannot be negative')
    WHEN p = '' THEN error('Third argument (pad pattern) for LPAD/RPAD cannot be empty') ELSE CAST(n AS INTEGER) END`,
  ),
  // Time
  macro(
    'gsql_timestamp(us)',
    `CASE WHEN us < -62135596800000000 OR us > 253402300799999999
    THEN error('TIMESTAMP out of the range 0001-01-01 to 9999-12-31') ELSE make_timestamptz(us) END`,
  ),
  macro(
    'gsql_date(d)',
    `CASE WHEN d < DATE '0001-01-01' OR d > DATE '9999-12-31'
    THEN error('DATE out of the range 0001-01-01 to 9999-12-31') ELSE d END`,
  ),
  macro('gsql_floor_div(a, b)', `((a) - (((a) % (b)) + (b)) % (b)) // (b)`),
  macro('gsql_in_range(ts)', `CASE WHEN epoch_us(ts) BETWEEN -62135596800000000 AND 253402300799999999 THEN ts END`),
  macro(
    'gsql_parse_timestamp(s)',
    String.raw`CASE WHEN regexp_full_match(s,
    '[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([ Tt]([01]?[0-9]|2[0-3]):[0-9]{1,2}:[0-9]{1,2}(\.[0-9]{1,6})?( UTC|[Zz]|[+-](0?[0-9]|1[0-3])(:?[0-9]{2})?|[+-]14(:?00)?)?)?')
    THEN gsql_in_range(TRY_CAST(regexp_replace(regexp_replace(regexp_replace(regexp_replace(s, '[Tt]([0-9])', ' \1'), '( UTC|[Zz])$', '+00'),
      '([+-])([0-9])(:?[0-9]{2})?$', '\10\2\3'), '([+-][0-9]{2})([0-9]{2})$', '\1:\2') AS TIMESTAMPTZ)) END`,
  ),
  macro(
    'gsql_parse_date(s)',
    `CASE WHEN regexp_full_match(s, '[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}') AND left(s, 4) != '0000' THEN TRY_CAST(s AS DATE) END`,
  ),
  macro(
    'gsql_fraction(ts)',
    String.raw`CASE WHEN epoch_us(ts) % 1000000 = 0 THEN ''
    WHEN epoch_us(ts) % 1000 = 0 THEN '.' || strftime(ts AT TIME ZONE 'UTC', '%g') ELSE '.' || strftime(ts AT TIME ZONE 'UTC', '%f') END`,
  ),
  macro(
    'gsql_timestamp_text(ts)',
    `strftime(ts AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S') || gsql_fraction(ts) || '+00'`,
  ),
  macro(
    'gsql_timestamp_json(ts)',
    `'"' || strftime(ts AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S') || gsql_fraction(ts) || 'Z"'`,
  ),
  // JSON
  macro(
    'gsql_quote(s)',
    String.raw`replace(replace(CAST(to_json(s) AS VARCHAR), chr(8232), '\u2028'), chr(8233), '\u2029')`,
  ),
  macro(
    'gsql_int_json(i)',
    `CASE WHEN i BETWEEN -9007199254740992 AND 9007199254740992 THEN CAST(i AS VARCHAR) ELSE '"' || i || '"' END`,
  ),
  macro(
    'gsql_float_json(x)',
    `CASE WHEN isnan(x) THEN '"NaN"' WHEN isinf(x) THEN CASE WHEN x > 0 THEN '"Infinity"' ELSE '"-Infinity"' END
    ELSE gsql_float_string(x) END`,
  ),
  macro(
    'gsql_numeric_json(x)',
    `CASE WHEN x = trunc(x) AND abs(x) <= 9007199254740992 THEN gsql_numeric_text(x) ELSE '"' || gsql_numeric_text(x) || '"' END`,
  ),
  // DuckDB keeps the value of a number but not its text: 1e3 would come out as 1000.0 and 1.10 as 1.1. Where a fraction's
  // text is not found in the source as it comes out, there is an error in place of another text.
  macro(
    'gsql_json_number_error()',
    `error('A JSON number that is not in its shortest form is not supported by the local BigQuery')`,
  ),
  macro(
    'gsql_json_scalar(j, p, raw)',
    String.raw`CASE json_type(j, p) WHEN 'OBJECT' THEN NULL WHEN 'ARRAY' THEN NULL WHEN 'NULL' THEN NULL
    WHEN 'DOUBLE' THEN CASE WHEN raw AND NOT regexp_matches(' ' || CAST(j AS VARCHAR) || ' ',
      '[^-+.0-9eE]' || regexp_escape(json_extract_string(j, p)) || '[^-+.0-9eE]')
      THEN gsql_json_number_error() ELSE json_extract_string(j, p) END
    ELSE json_extract_string(j, p) END`,
  ),
  macro(
    'gsql_json_kept(j, t)',
    String.raw`CASE WHEN regexp_matches(t, '[0-9][.eE]')
      AND NOT contains(regexp_replace(CAST(j AS VARCHAR), '\s', '', 'g'), regexp_replace(t, '\s', '', 'g'))
    THEN gsql_json_number_error() ELSE t END`,
  ),
  macro(
    'gsql_json_text(j, p)',
    `CASE WHEN json_type(j, p) = 'NULL' THEN NULL ELSE gsql_json_kept(j, CAST(json_extract(j, p) AS VARCHAR)) END`,
  ),
  macro(
    'gsql_json_array(j, p, raw)',
    `CASE WHEN json_type(j, p) = 'ARRAY' THEN CAST(CASE WHEN raw THEN gsql_json_kept(j, CAST(json_extract(j, p) AS VARCHAR))
      ELSE CAST(json_extract(j, p) AS VARCHAR) END AS JSON[]) END`,
  ),
  macro('gsql_member(k)', `'/' || replace(replace(k, '~', '~0'), '/', '~1')`),
  macro(
    'gsql_json_flat(j)',
    `CASE WHEN contains(CAST(j AS VARCHAR), '{') AND json_type(j) IN ('OBJECT', 'ARRAY')
    THEN error('TO_JSON_STRING of nested JSON objects is not supported by the local BigQuery') ELSE CAST(json(j) AS VARCHAR) END`,
  ),
  macro(
    'gsql_json_canonical(j)',
    `CASE WHEN json_type(j) = 'OBJECT' THEN '{' || array_to_string(list_transform(list_sort(json_keys(j)),
      lambda k: CAST(to_json(k) AS VARCHAR) || ':' || gsql_json_flat(json_extract(j, gsql_member(k)))), ',') || '}'
    ELSE gsql_json_flat(j) END`,
  ),
  macro(
    'gsql_lax_float(j)',
    `CASE json_type(j) WHEN 'VARCHAR' THEN gsql_float(json_extract_string(j, '$'))
    WHEN 'DOUBLE' THEN CAST(json_extract_string(j, '$') AS DOUBLE) WHEN 'UBIGINT' THEN CAST(json_extract_string(j, '$') AS DOUBLE)
    WHEN 'BIGINT' THEN CAST(json_extract_string(j, '$') AS DOUBLE) END`,
  ),
  macro(
    'gsql_lax_int(j)',
    `CASE json_type(j) WHEN 'BOOLEAN' THEN CAST(CAST(json_extract_string(j, '$') AS BOOLEAN) AS BIGINT)
    WHEN 'UBIGINT' THEN TRY_CAST(json_extract_string(j, '$') AS BIGINT) WHEN 'BIGINT' THEN TRY_CAST(json_extract_string(j, '$') AS BIGINT)
    WHEN 'VARCHAR' THEN coalesce(gsql_int(json_extract_string(j, '$')), TRY_CAST(round(gsql_float(json_extract_string(j, '$'))) AS BIGINT))
    ELSE TRY_CAST(round(gsql_lax_float(j)) AS BIGINT) END`,
  ),
  macro(
    'gsql_lax_bool(j)',
    `CASE json_type(j) WHEN 'BOOLEAN' THEN CAST(json_extract_string(j, '$') AS BOOLEAN)
    WHEN 'VARCHAR' THEN gsql_bool(json_extract_string(j, '$')) ELSE gsql_lax_float(j) != 0 END`,
  ),
  macro(
    'gsql_lax_string(j)',
    `CASE json_type(j) WHEN 'OBJECT' THEN NULL WHEN 'ARRAY' THEN NULL WHEN 'NULL' THEN NULL
    WHEN 'DOUBLE' THEN gsql_float_string(CAST(json_extract_string(j, '$') AS DOUBLE)) ELSE json_extract_string(j, '$') END`,
  ),
];
