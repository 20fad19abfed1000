import type { Parameters } from './oracle.ts';

/** What is compared with Google's evaluator. Extend the lists: nothing else has to change. */
export interface Case {
  readonly sql: string;
  readonly parameters?: Parameters;
  /** For INSERT, UPDATE and DELETE: a query that gives the table's rows afterwards. */
  readonly result?: string;
}

/** Each is evaluated as `SELECT expression`; where Google fails, the local result has to fail too. */
export const EXPRESSIONS: Record<string, readonly string[]> = {
  literals: String.raw`
1, -5, 0x1F, 1.5, .5, 1e3, 'a', "b", r'\d', b'ab\xff', TRUE, NULL
'a\n\t\u00e9\x41\'', """x"y""", '', 'it''s'
9223372036854775807, -9223372036854775808
TIMESTAMP '2026-01-05 10:00:00.120 UTC', TIMESTAMP '2026-01-05T10:00:00Z', TIMESTAMP '2026-01-05', TIMESTAMP '2026-01-05 10:00:00+05:30', DATE '2026-1-5', NUMERIC '1.50'
[1, 2, 3], ['a', NULL], ARRAY<INT64>[], STRUCT(1 AS a, 'x' AS b), (1, 'x'), [STRUCT(1 AS a)]`.split('\n'),
  'to json': String.raw`
TO_JSON_STRING('a/b<>&é\u2028\u2029\u0001\n\t\r\b\f"\\\x7f')
TO_JSON_STRING(9007199254740993), TO_JSON_STRING(9007199254740992), TO_JSON_STRING(-9007199254740992), TO_JSON_STRING(-9007199254740993)
TO_JSON_STRING(1.0), TO_JSON_STRING(1e20), TO_JSON_STRING(0.1), TO_JSON_STRING(1e15), TO_JSON_STRING(1e-7), TO_JSON_STRING(123456789.125), TO_JSON_STRING(1234567890123456.0), TO_JSON_STRING(1500000000000000.0), TO_JSON_STRING(12345678901234568.0), TO_JSON_STRING(0.1234567890123456), TO_JSON_STRING(5e-324), TO_JSON_STRING(1.7976931348623157e308)
TO_JSON_STRING(CAST('nan' AS FLOAT64)), TO_JSON_STRING(CAST('inf' AS FLOAT64)), TO_JSON_STRING(CAST('-inf' AS FLOAT64)), TO_JSON_STRING(-0.0)
TO_JSON_STRING(NUMERIC '1.50'), TO_JSON_STRING(NUMERIC '5'), TO_JSON_STRING(NUMERIC '-0.1'), TO_JSON_STRING(NUMERIC '12345678901234567890.5'), TO_JSON_STRING(NUMERIC '12345678901234567890')
TO_JSON_STRING(DATE '2026-01-05'), TO_JSON_STRING(b'ab\xff'), TO_JSON_STRING(TRUE), TO_JSON_STRING(CAST(NULL AS STRING))
TO_JSON_STRING(TIMESTAMP '2026-01-05 10:00:00.120 UTC'), TO_JSON_STRING(TIMESTAMP '2026-01-05 10:00:00.123450 UTC'), TO_JSON_STRING(TIMESTAMP '0001-01-05 10:00:00 UTC'), TO_JSON_STRING(TIMESTAMP '1969-12-31 23:59:59.999999 UTC')
TO_JSON_STRING([1, 2]), TO_JSON_STRING(CAST(NULL AS ARRAY<INT64>)), TO_JSON_STRING(['a', NULL]), TO_JSON_STRING(ARRAY<STRING>[])
TO_JSON_STRING(STRUCT(1 AS a, 'x' AS b, NULL AS c)), TO_JSON_STRING([STRUCT(1 AS a)]), TO_JSON_STRING(STRUCT([1] AS l, STRUCT(2.5 AS y) AS s)), TO_JSON_STRING(STRUCT(1, 2))`.split(
    '\n',
  ),
  casts: String.raw`
CAST(1.0 AS STRING), CAST(1e20 AS STRING), CAST(1e15 AS STRING), CAST(1e16 AS STRING), CAST(1e-7 AS STRING), CAST(0.0001 AS STRING), CAST(0.00001 AS STRING), CAST(123456789.125 AS STRING), CAST(-0.0 AS STRING), CAST(1.2345e15 AS STRING)
CAST(NUMERIC '1.50' AS STRING), CAST(NUMERIC '100' AS STRING), CAST(CAST('inf' AS FLOAT64) AS STRING), CAST(CAST('nan' AS FLOAT64) AS STRING), CAST(1e308 AS STRING), CAST(12345678901234567890.0 AS STRING), CAST(0.1 + 0.2 AS STRING)
CAST(2.5 AS INT64), CAST(-2.5 AS INT64), CAST(3.5 AS INT64), CAST(0.49999999999999994 AS INT64), CAST(TRUE AS INT64), CAST(0 AS BOOL), CAST(5 AS BOOL), CAST(TRUE AS STRING), CAST(NUMERIC '2.5' AS INT64)
CAST(1e19 AS INT64)
CAST('abc' AS INT64)
CAST(1.23456789055 AS NUMERIC), CAST('1.2345678905' AS NUMERIC), CAST(5 AS NUMERIC)
SAFE_CAST(' 12 ' AS INT64), SAFE_CAST('+5' AS INT64), SAFE_CAST('0x1F' AS INT64), SAFE_CAST('1.0' AS INT64), SAFE_CAST('1e3' AS INT64), SAFE_CAST('' AS INT64), SAFE_CAST('1_0' AS INT64), SAFE_CAST('-0x1f' AS INT64), SAFE_CAST('99999999999999999999' AS INT64), SAFE_CAST('-9223372036854775808' AS INT64), SAFE_CAST(1e300 AS INT64)
SAFE_CAST(' 1.5 ' AS FLOAT64), SAFE_CAST('1e3' AS FLOAT64), SAFE_CAST('.5' AS FLOAT64), SAFE_CAST('5.' AS FLOAT64), SAFE_CAST('inf' AS FLOAT64), SAFE_CAST('Infinity' AS FLOAT64), SAFE_CAST('+nan' AS FLOAT64), SAFE_CAST('1e400' AS FLOAT64), SAFE_CAST('1_0' AS FLOAT64), SAFE_CAST('1d' AS FLOAT64), SAFE_CAST('-inf' AS FLOAT64), SAFE_CAST('1e-400' AS FLOAT64)
SAFE_CAST('TRUE' AS BOOL), SAFE_CAST('t' AS BOOL), SAFE_CAST(' true' AS BOOL), SAFE_CAST('1' AS BOOL), SAFE_CAST('False' AS BOOL)
SAFE_CAST(' 1.5 ' AS NUMERIC), SAFE_CAST('1e3' AS NUMERIC), SAFE_CAST('.5' AS NUMERIC), SAFE_CAST('+1' AS NUMERIC), SAFE_CAST('1.00000000001' AS NUMERIC), SAFE_CAST('1e40' AS NUMERIC)
SAFE_CAST('2026-1-5' AS DATE), SAFE_CAST('2026-01-05 ' AS DATE), SAFE_CAST('20260105' AS DATE), SAFE_CAST('2026-02-30' AS DATE), SAFE_CAST('26-01-05' AS DATE), SAFE_CAST('0000-01-01' AS DATE)
SAFE_CAST('2026-1-5 1:2:3' AS TIMESTAMP), SAFE_CAST('2026-01-05T10:00:00Z' AS TIMESTAMP), SAFE_CAST('2026-01-05' AS TIMESTAMP), SAFE_CAST('2026-01-05 10:00' AS TIMESTAMP), SAFE_CAST('2026-01-05 10:00:00.5' AS TIMESTAMP)
SAFE_CAST('2026-01-05 10:00:00+5' AS TIMESTAMP), SAFE_CAST('2026-01-05 10:00:00+05:30' AS TIMESTAMP), SAFE_CAST('2026-01-05 10:00:00-05:30' AS TIMESTAMP), SAFE_CAST('2026-01-05 10:00:00 UTC' AS TIMESTAMP), SAFE_CAST('2026-01-05 10:00:00 +05:30' AS TIMESTAMP)
SAFE_CAST('2026-01-05 24:00:00' AS TIMESTAMP), SAFE_CAST('2026-01-05t10:00:00z' AS TIMESTAMP), SAFE_CAST('2026-01-05 10:00:00.' AS TIMESTAMP), SAFE_CAST('2026-01-05 10:00:00+0530' AS TIMESTAMP), SAFE_CAST(' 2026-01-05 10:00:00' AS TIMESTAMP), SAFE_CAST('2026-01-05 10:00:00+15:00' AS TIMESTAMP), SAFE_CAST('2026-01-05 10:00:00 utc' AS TIMESTAMP), SAFE_CAST('epoch' AS TIMESTAMP), SAFE_CAST('9999-12-31 23:59:59-01' AS TIMESTAMP)
CAST(TIMESTAMP '2026-01-05 10:00:00.120 UTC' AS STRING), CAST(TIMESTAMP '2026-01-05 10:00:00.123450 UTC' AS STRING), CAST(TIMESTAMP '0001-01-05 10:00:00 UTC' AS STRING), CAST(DATE '2026-01-05' AS STRING), CAST(TIMESTAMP '2026-01-05 23:59:59 UTC' AS DATE), CAST(DATE '2026-01-05' AS TIMESTAMP)
CAST('é' AS BYTES), CAST(NULL AS INT64), CAST('2026-01-05' AS DATE)`.split('\n'),
  json: String.raw`
JSON_VALUE('{"a":1000}', '$.a'), JSON_VALUE('{"b":1.5}', '$.b'), JSON_VALUE('{"c":123456789012345678901234567890}', '$.c'), JSON_VALUE('{"d":true}', '$.d'), JSON_VALUE('{"e":null}', '$.e'), JSON_VALUE('{"f":{}}', '$.f'), JSON_VALUE('{"g":"q\\u00e9\\n"}', '$.g'), JSON_VALUE('{"h":[]}', '$.h'), JSON_VALUE('{"h":""}', '$.h')
JSON_VALUE('not json', '$.a'), JSON_VALUE('{"a":{"b":1}}', '$.a.b'), JSON_VALUE('[1,2]', '$[1]'), JSON_VALUE('{"0":1}', '$[0]'), JSON_VALUE('{"a b":1}', '$."a b"'), JSON_VALUE('5'), JSON_VALUE('"x"', '$'), JSON_VALUE('{"A":1}', '$.a'), JSON_VALUE(NULL, '$.a'), JSON_VALUE('', '$.a')
JSON_VALUE(JSON '{"b":1.5}', '$.b'), JSON_VALUE(JSON '{"d":true}', '$.d'), JSON_VALUE(JSON '{"e":null}', '$.e'), JSON_VALUE(JSON '{"a":"x"}', '$.a')
JSON_QUERY('{"a": {"z": 1, "b" : [1, 2.5 ,"x<"]}}', '$.a'), JSON_QUERY('{"a": "x"}', '$.a'), JSON_QUERY('{"e":null}', '$.e'), JSON_QUERY(JSON '{"a": {"z": 1, "b" : [1]}}', '$.a'), JSON_QUERY('{"a":1}', '$.b'), JSON_QUERY('x', '$.b')
JSON_EXTRACT_SCALAR('{"a":"x"}', '$.a'), JSON_EXTRACT('{"a":"x"}', '$.a'), JSON_EXTRACT_SCALAR('{"a b":"x"}', "$['a b']")
JSON_VALUE_ARRAY('{"a":[1,"x",null,true]}', '$.a'), JSON_VALUE_ARRAY('{"a":[1,{"x":1}]}', '$.a'), JSON_QUERY_ARRAY('{"a":[1,{"x": 1},"y"]}', '$.a'), JSON_VALUE_ARRAY('{"a":1}', '$.a'), JSON_VALUE_ARRAY('[]'), JSON_VALUE_ARRAY('[1.5, -2.25]'), JSON_QUERY('{"a" : [1.5, {"b" : 2.5}]}', '$.a'), JSON_QUERY_ARRAY('["a"]')
PARSE_JSON('{"a": [1, 2]}'), PARSE_JSON('null'), SAFE.PARSE_JSON('{"a":'), PARSE_JSON('"x"')
PARSE_JSON('{"a":')
TO_JSON_STRING(PARSE_JSON('{"b": 1.5, "a": [1, 2, "\u003c"]}'))
TO_JSON_STRING(JSON_QUERY(JSON '{"a": {"z": 1, "b": 2}}', '$.a'))
LAX_INT64(JSON '"12"'), LAX_INT64(JSON '1.5'), LAX_INT64(JSON 'true'), LAX_INT64(JSON '"1.9"'), LAX_INT64(JSON '"x"'), LAX_INT64(JSON 'null'), LAX_INT64(JSON '2.5'), LAX_INT64(JSON '-2.5'), LAX_INT64(JSON '"1e3"'), LAX_INT64(JSON '1e30'), LAX_INT64(JSON '[1]')
LAX_FLOAT64(JSON '"1.5"'), LAX_FLOAT64(JSON 'true'), LAX_FLOAT64(JSON '3'), LAX_FLOAT64(JSON '"x"'), LAX_FLOAT64(JSON '-3'), LAX_FLOAT64(JSON 'null')
LAX_STRING(JSON '1.0'), LAX_STRING(JSON 'true'), LAX_STRING(JSON '{}'), LAX_STRING(JSON '"q"'), LAX_STRING(JSON '1e3'), LAX_STRING(JSON '12'), LAX_STRING(JSON 'null')
LAX_BOOL(JSON '"TRUE"'), LAX_BOOL(JSON '0'), LAX_BOOL(JSON '"1"'), LAX_BOOL(JSON '2.5'), LAX_BOOL(JSON 'false'), LAX_BOOL(JSON 'null')
LAX_INT64(PARSE_JSON('{"a":{"b":[7]}}').a.b[0]), LAX_STRING(PARSE_JSON('{"a":"x"}')['a']), LAX_STRING(JSON '{"a":1}'.b)`.split(
    '\n',
  ),
  strings: String.raw`
SUBSTR('abc', -5, 2), SUBSTR('abc', 0, 2), SUBSTR('abc', 0), SUBSTR('abc', -2), SUBSTR('abc', 4), SUBSTR('abc', -2, 1), SUBSTR('abc', 1, 0), SUBSTR('abc', -3, 2), SUBSTR('aé😀b', 2, 2), SUBSTR('', 1), SUBSTR('abc', 2, 9223372036854775807)
SUBSTR('abc', 1, -1)
TRIM(' \t\u00a0a\u2003\n'), LTRIM('  a '), RTRIM(' a  '), LTRIM('xxa', 'x'), RTRIM('axy', 'yx'), TRIM('xyaxy', 'xy'), REPLACE('abc', '', 'x'), REPLACE('aXbX', 'X', ''), STRPOS('abc', ''), STRPOS('abc', 'c'), STRPOS('é😀a', 'a'), STRPOS('a', 'z')
SPLIT('', ','), SPLIT('a,,b', ','), SPLIT('abc', ''), SPLIT('a,b'), SPLIT('aé', '')
LPAD('abc', 2, 'x'), LPAD('abc', 5), LPAD('abc', 7, 'xy'), RPAD('a', 3, 'z'), LPAD('é', 2, '😀'), LENGTH('é😀'), LENGTH(b'ab'), BYTE_LENGTH('é'), CHAR_LENGTH('é')
LPAD('abc', 5, '')
LPAD('abc', -1)
LOWER('AÉ'), UPPER('éa'), CONCAT('a', 'b', 'c'), CONCAT('a', CAST(NULL AS STRING)), 'a' || 'b', STARTS_WITH('abc', 'ab'), ENDS_WITH('abc', 'bc'), STARTS_WITH('abc', ''), LEFT('abc', 2)
REGEXP_CONTAINS('a\nb', 'a.b'), REGEXP_EXTRACT('abc', 'z(x)?'), REGEXP_EXTRACT('abc', 'b(x)?'), REGEXP_EXTRACT('abc', 'b'), REGEXP_EXTRACT('abc', 'b(c)'), REGEXP_EXTRACT('a(b', r'\((b)'), REGEXP_EXTRACT('abc', '(?:a)(b)'), REGEXP_EXTRACT('abc', '(?P<n>b)'), REGEXP_EXTRACT('[a]', r'[(\]]')
REGEXP_EXTRACT('abc', ''), REGEXP_CONTAINS('ABC', '(?i)b'), REGEXP_CONTAINS('abc', '^b')
REGEXP_REPLACE('abc', 'x*', '-'), REGEXP_REPLACE('abc', '(b)', r'[\1\0]'), REGEXP_REPLACE('abc', '', '-'), REGEXP_REPLACE('a.b', r'\.', r'\\')
REGEXP_EXTRACT('abc', '(')
REGEXP_EXTRACT('abc', '(a)(b)')
'a%b' LIKE r'a\%b', 'axb' LIKE r'a\%b', 'a\nb' LIKE 'a%b', 'ab' LIKE 'a_', '' LIKE '%', 'É' LIKE '_', 'a' NOT LIKE 'b', 'A' LIKE 'a'
'a' LIKE 'a\\'
FORMAT('%s-%d-%t-%%', 'a', 5, TRUE), FORMAT('%t', TIMESTAMP '2026-01-05 09:07:42 UTC'), FORMAT('%t', 'x'), FORMAT('%s', CAST(NULL AS STRING)), FORMAT('%d', CAST(NULL AS INT64)), FORMAT('%t', DATE '2026-01-05'), FORMAT('%t', NUMERIC '1.50'), FORMAT('%t', CAST(NULL AS INT64))
TO_HEX(b'\xAB'), TO_BASE64(b'a'), FROM_BASE64('YQ=='), SAFE_CONVERT_BYTES_TO_STRING(b'a'), FROM_HEX('ab'), MD5('a'), SHA1('a'), TO_HEX(SHA256('abc')), TO_HEX(SHA256('é')), TO_HEX(SHA256(b'\xff\x00')), TO_HEX(MD5(''))
'a' < 'B', 'é' > 'z', 'a' = 'a ', 'a' < 'aa', '😀' > '\uffff'`.split('\n'),
  numbers: String.raw`
1 / 2, 7 / 2, DIV(7, -2), DIV(-7, 2), MOD(7, -2), MOD(-7, 2), MOD(5, -1), ABS(-5), ABS(-1.5), 5 - 7, 2 * 3, -(3), 1 + 2.5
ROUND(2.5), ROUND(-2.5), ROUND(3.5), ROUND(1.005, 2), ROUND(1234.5, -2), ROUND(5), FLOOR(-1.5), CEIL(1.2), CEILING(-1.2), TRUNC(-1.7), FLOOR(5), ROUND(NUMERIC '2.5'), FLOOR(NUMERIC '-1.5'), CEIL(NUMERIC '1.2'), ROUND(0.49999999999999994), ROUND(2.675, 2), ROUND(0.125, 2), ROUND(-0.125, 2), ROUND(1.45, 1), ROUND(1e20, 2), ROUND(123.456, 5)
SAFE_DIVIDE(1, 0), SAFE_DIVIDE(1, 4), SAFE_DIVIDE(NULL, 1), SAFE_DIVIDE(1e308, 0.1), SIGN(-3), SIGN(2.5), NUMERIC '1.5' + 1, NUMERIC '1.5' - NUMERIC '0.25'
1 / 0
1.0 / 0
MOD(5, 0)
DIV(5, 0)
9223372036854775807 + 1
9223372036854775807 * 2
1e308 * 10
ABS(-9223372036854775808)
-(-9223372036854775808)
GREATEST(1, NULL), LEAST(1, 2.5), GREATEST('a', 'b'), LEAST(DATE '2026-01-01', DATE '2025-01-01'), GREATEST(1, CAST('nan' AS FLOAT64))
1 = 1.0, 1 < 2.5, CAST('nan' AS FLOAT64) = CAST('nan' AS FLOAT64), CAST('nan' AS FLOAT64) > 1, CAST('nan' AS FLOAT64) != 1, CAST('nan' AS FLOAT64) < 1, CAST('nan' AS FLOAT64) >= 1, 1 <= CAST('nan' AS FLOAT64), NUMERIC '1' = 1, 9007199254740993 = 9007199254740992.0`.split(
    '\n',
  ),
  conditions: String.raw`
COALESCE(NULL, 1, 2.5), IF(TRUE, 1, 2.5), IF(NULL, 1, 2), NULLIF(1, 1), NULLIF(1, 2), NULLIF('a', NULL), IFNULL(NULL, 'a'), CASE 1 WHEN 1 THEN 'a' END, CASE WHEN NULL THEN 1 ELSE 2 END, CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' ELSE 'c' END
1 IN (1, NULL), 2 IN (1, NULL), 2 NOT IN (1, NULL), NULL IN (1), 1 IN UNNEST([]), 1 IN UNNEST([1, NULL]), NULL IN UNNEST([1]), 3 IN UNNEST([1, NULL]), 3 IN UNNEST(CAST(NULL AS ARRAY<INT64>)), 1 NOT IN UNNEST([2]), 'a' IN ('a', 'b')
TRUE AND NULL, FALSE AND NULL, TRUE OR NULL, NULL IS NULL, 1 IS NOT NULL, TRUE IS TRUE, NULL IS TRUE, NULL IS NOT TRUE, FALSE IS FALSE, 2 BETWEEN 1 AND 3, 2 NOT BETWEEN 1 AND 3, NULL BETWEEN 1 AND 2, 1 = 1 AND 2 = 2 OR FALSE, NOT 1 = 2
IF(TRUE, 1, 1 / 0), COALESCE(1, DIV(1, 0)), CASE WHEN TRUE THEN 1 ELSE DIV(1, 0) END
DATE '2026-01-05' = '2026-01-05', TIMESTAMP '2026-01-05 00:00:00 UTC' < '2026-01-06', TIMESTAMP '2026-01-05' BETWEEN '2026-01-05' AND '2026-01-06'
IF(FALSE, ERROR('x'), 'a'), IF(FALSE, ERROR('x'), DATE '2026-01-05'), IF(FALSE, ERROR('x'), [1]), IF(FALSE, ERROR('x'), NULL), COALESCE('a', ERROR('x')), CASE WHEN TRUE THEN 1.5 ELSE ERROR(CONCAT('x', 'y')) END, IF(FALSE, ERROR(NULL), 5) + 1, TO_JSON_STRING(IF(FALSE, ERROR('x'), 'a')), IF(FALSE, ERROR('x'), STRUCT(1 AS a)), ARRAY(SELECT ERROR('x') FROM UNNEST([1]) AS i WHERE i > 1)
ERROR('x')
ERROR(NULL)
ERROR(1)
ERROR('x', 'y')
COALESCE(NULL, ERROR('x'))
IF(TRUE, ERROR('x'), 'a')
TO_JSON_STRING(ERROR('x'))
FORMAT('%t', ERROR('x'))
STRUCT(1 AS a, ERROR('x') AS b)
LENGTH(ERROR('x'))
1 = ERROR('x')
[1, ERROR('x')]
IF(1, 2, 3)
1 = 'a'
TRUE + 1`.split('\n'),
  times: String.raw`
UNIX_MILLIS(TIMESTAMP '1969-12-31 23:59:59.9999 UTC'), UNIX_SECONDS(TIMESTAMP '1969-12-31 23:59:59.9999 UTC'), UNIX_MICROS(TIMESTAMP '1969-12-31 23:59:59.9999 UTC'), UNIX_SECONDS(TIMESTAMP '1969-12-31 23:59:59 UTC'), UNIX_MILLIS(TIMESTAMP '2026-01-05 10:00:00.123999 UTC')
TIMESTAMP_DIFF(TIMESTAMP '2026-01-01 00:00:00 UTC', TIMESTAMP '2026-01-01 00:00:01.5 UTC', SECOND), TIMESTAMP_DIFF(TIMESTAMP '2026-01-03 00:00:00 UTC', TIMESTAMP '2026-01-01 00:00:01 UTC', DAY), TIMESTAMP_DIFF(TIMESTAMP '2026-01-01 11:00:00 UTC', TIMESTAMP '2026-01-01 10:59:59 UTC', HOUR), TIMESTAMP_DIFF('2026-01-01 11:00:00', TIMESTAMP '2026-01-01 10:59:59.5 UTC', MILLISECOND), TIMESTAMP_DIFF(TIMESTAMP '2026-01-01 11:00:00 UTC', TIMESTAMP '2026-01-01 10:00:00 UTC', MICROSECOND), TIMESTAMP_DIFF(TIMESTAMP '2026-01-01 11:00:00 UTC', TIMESTAMP '2026-01-01 10:00:00.1 UTC', MINUTE)
DATE_DIFF(DATE '2026-01-01', DATE '2025-12-31', YEAR), DATE_DIFF(DATE '2026-02-01', DATE '2026-01-31', MONTH), DATE_DIFF(DATE '2026-01-04', DATE '2026-01-03', WEEK), DATE_DIFF(DATE '2026-01-05', DATE '2026-01-04', ISOWEEK), DATE_DIFF(DATE '2026-01-06', DATE '2026-01-04', WEEK(TUESDAY)), DATE_DIFF(DATE '2026-04-01', DATE '2026-03-31', QUARTER), DATE_DIFF(DATE '2026-01-01', DATE '2026-01-31', DAY), DATE_DIFF(DATE '2025-12-31', DATE '2026-01-01', WEEK)
DATE_ADD(DATE '2026-01-31', INTERVAL 1 MONTH), DATE_ADD(DATE '2024-02-29', INTERVAL 1 YEAR), DATE_SUB(DATE '2026-03-31', INTERVAL 1 MONTH), DATE_ADD(DATE '2026-01-31', INTERVAL 2 WEEK), DATE_SUB(DATE '2026-01-01', INTERVAL 1 DAY), DATE_ADD(DATE '2026-01-31', INTERVAL 1 QUARTER), DATE '2026-01-31' + 1, DATE '2026-01-31' - 31
TIMESTAMP_ADD(TIMESTAMP '2026-01-01 10:00:00 UTC', INTERVAL 90 MINUTE), TIMESTAMP_SUB(TIMESTAMP '2026-01-01 10:00:00 UTC', INTERVAL 1 DAY), TIMESTAMP_ADD(TIMESTAMP '2026-01-01 10:00:00 UTC', INTERVAL -5 MICROSECOND), TIMESTAMP_ADD(TIMESTAMP '2026-01-01 10:00:00 UTC', INTERVAL IF(TRUE, 25, 1) HOUR)
TIMESTAMP_TRUNC(TIMESTAMP '2026-01-05 10:17:42 UTC', WEEK), TIMESTAMP_TRUNC(TIMESTAMP '2026-01-05 10:17:42 UTC', ISOWEEK), TIMESTAMP_TRUNC(TIMESTAMP '2026-01-05 10:17:42 UTC', WEEK(TUESDAY)), TIMESTAMP_TRUNC(TIMESTAMP '2026-01-04 10:17:42 UTC', WEEK(SATURDAY)), TIMESTAMP_TRUNC(TIMESTAMP '2026-01-05 10:17:42 UTC', MONTH), TIMESTAMP_TRUNC(TIMESTAMP '1969-01-05 10:17:42 UTC', DAY), TIMESTAMP_TRUNC(TIMESTAMP '2026-05-05 10:17:42 UTC', QUARTER), TIMESTAMP_TRUNC(TIMESTAMP '2026-01-05 10:17:42 UTC', HOUR), TIMESTAMP_TRUNC(TIMESTAMP '1969-01-05 10:17:42.5 UTC', SECOND), TIMESTAMP_TRUNC(TIMESTAMP '2026-05-05 10:17:42 UTC', YEAR), TIMESTAMP_TRUNC(TIMESTAMP '2026-05-05 10:17:42.123456 UTC', MILLISECOND)
DATE_TRUNC(DATE '2026-01-05', WEEK), DATE_TRUNC(DATE '2026-01-05', WEEK(MONDAY)), DATE_TRUNC(DATE '2026-01-05', MONTH), DATE_TRUNC(DATE '2026-05-05', QUARTER), DATE_TRUNC(DATE '2026-05-05', YEAR), DATE_TRUNC(DATE '2026-05-05', DAY), DATE_TRUNC(DATE '1969-05-05', ISOWEEK)
EXTRACT(ISOWEEK FROM DATE '2026-01-05'), EXTRACT(DAYOFWEEK FROM DATE '2026-01-05'), EXTRACT(ISOYEAR FROM DATE '2027-01-01'), EXTRACT(DAYOFYEAR FROM DATE '2026-02-05'), EXTRACT(QUARTER FROM DATE '2026-05-05'), EXTRACT(MILLISECOND FROM TIMESTAMP '2026-01-05 10:17:42.123456 UTC'), EXTRACT(MICROSECOND FROM TIMESTAMP '2026-01-05 10:17:42.123456 UTC'), EXTRACT(SECOND FROM TIMESTAMP '2026-01-05 10:17:42.123456 UTC'), EXTRACT(DATE FROM TIMESTAMP '2026-01-05 10:17:42 UTC'), EXTRACT(HOUR FROM TIMESTAMP '2026-01-05 10:17:42 UTC'), EXTRACT(YEAR FROM TIMESTAMP '1969-01-05 10:17:42 UTC'), EXTRACT(MONTH FROM DATE '2026-01-05'), EXTRACT(DAY FROM DATE '2026-01-05'), EXTRACT(MINUTE FROM TIMESTAMP '2026-01-05 10:17:42 UTC')
FORMAT_TIMESTAMP('%Y-%m-%d %H:%M:%S %F %T %E6S %E3S %E*S %Z %z %Ez %j %a %A %b %B %y %e %s %p %I %D %R %% %u %w %G %V', TIMESTAMP '2026-01-05 10:17:42.123400 UTC')
FORMAT_TIMESTAMP('%E4Y %E*S %h%E0S%E1S', TIMESTAMP '2026-01-05 09:07:42 UTC'), FORMAT_TIMESTAMP('%Y-%m-%dT%H:%M:%E6SZ', TIMESTAMP '1969-12-31 23:59:59.999999 UTC'), FORMAT_TIMESTAMP('%Y%m%d', TIMESTAMP '2026-01-05 09:07:42 UTC', 'UTC'), FORMAT_TIMESTAMP('', TIMESTAMP '2026-01-05 09:07:42 UTC'), FORMAT_DATE('%Y%m%d %a', DATE '2026-01-05'), FORMAT_TIMESTAMP('%s', TIMESTAMP '1969-12-31 23:59:58.5 UTC')
DATE(TIMESTAMP '2026-01-01 23:30:00 UTC'), DATE(TIMESTAMP '1969-12-31 23:30:00 UTC'), DATE(2026, 2, 28), UNIX_DATE(DATE '1969-12-31'), DATE_FROM_UNIX_DATE(-1), TIMESTAMP_MICROS(-1), TIMESTAMP_MILLIS(1767225600123), TIMESTAMP_SECONDS(0), TIMESTAMP(DATE '2026-01-05'), TIMESTAMP('2026-01-05 10:00:00+01'), DATE('2026-01-05')
TIMESTAMP_MICROS(253402300800000000)
TIMESTAMP_ADD(TIMESTAMP '9999-12-31 23:59:59 UTC', INTERVAL 1 DAY)
DATE_ADD(DATE '9999-12-31', INTERVAL 1 DAY)
TIMESTAMP_ADD(TIMESTAMP '2026-01-01 10:00:00 UTC', INTERVAL 1 MONTH)
DATE(2026, 2, 30)`.split('\n'),
  arrays: String.raw`
[1, 2, 3][OFFSET(0)], [1, 2][SAFE_OFFSET(5)], [1, 2][ORDINAL(1)], [1, 2][SAFE_ORDINAL(0)], [1, 2][SAFE_OFFSET(-1)], [1, 2][0], ARRAY_LENGTH([1, 2]), ARRAY_LENGTH(CAST(NULL AS ARRAY<INT64>))
[1, 2][OFFSET(5)]
[1, 2][ORDINAL(0)]
ARRAY_TO_STRING(['a', NULL, 'b'], ','), ARRAY_TO_STRING(['a', NULL, 'b'], ',', 'x'), ARRAY_TO_STRING([], ','), ARRAY_CONCAT([1], [2], [3]), ARRAY_REVERSE([1, 2]), GENERATE_ARRAY(1, 5, 2), GENERATE_ARRAY(5, 1), GENERATE_ARRAY(5, 1, -2), ['a'] || ['b']
ARRAY(SELECT x FROM UNNEST([3, 1, 2]) AS x ORDER BY x DESC), ARRAY(SELECT x FROM UNNEST([1]) AS x WHERE FALSE), ARRAY(SELECT AS STRUCT x, x + 1 AS y FROM UNNEST([1, 2]) AS x ORDER BY x)
STRUCT(1 AS a, 'x' AS b).a, (SELECT AS STRUCT 1 AS a, 2 AS b).b, (SELECT 5), (SELECT x FROM UNNEST([1]) AS x WHERE x > 1), EXISTS (SELECT 1), EXISTS (SELECT x FROM UNNEST([1]) AS x WHERE x > 1), 1 IN (SELECT 1), (SELECT COUNT(*) FROM UNNEST([1, 2]))
(SELECT x FROM UNNEST([1, 2]) AS x)`.split('\n'),
};

const q = (sql: string, parameters?: Parameters): Case => (parameters ? { sql, parameters } : { sql });

export const QUERIES: readonly Case[] = [
  q('SELECT SUM(x) FROM UNNEST([9223372036854775807, 1]) AS x'),
  q(
    'SELECT AVG(x), SUM(x), COUNT(x), COUNT(*), MIN(x), MAX(x), COUNT(DISTINCT x), SUM(DISTINCT x) FROM UNNEST([1, 2, 2, NULL]) AS x',
  ),
  q(
    'SELECT AVG(x), SUM(x), COUNT(x), COUNT(*), MIN(x), MAX(x), ANY_VALUE(x), LOGICAL_OR(x > 1), ARRAY_AGG(x), STRING_AGG(CAST(x AS STRING)) FROM UNNEST(ARRAY<INT64>[]) AS x',
  ),
  q(
    "SELECT ARRAY_AGG(x IGNORE NULLS ORDER BY x DESC LIMIT 2), STRING_AGG(CAST(x AS STRING)), STRING_AGG(CAST(x AS STRING), '-' ORDER BY x DESC LIMIT 2), ARRAY_AGG(DISTINCT x IGNORE NULLS ORDER BY x), ARRAY_AGG(x ORDER BY x) FROM UNNEST([1, NULL, 3, 2, 3]) AS x",
  ),
  q('SELECT LOGICAL_OR(x > 2), LOGICAL_AND(x > 0), COUNTIF(x > 1), LOGICAL_AND(x > 1) FROM UNNEST([1, NULL, 3]) AS x'),
  q('SELECT x FROM UNNEST([1, NULL, 3, 2]) AS x ORDER BY x DESC'),
  q('SELECT x FROM UNNEST([1, NULL, 3, 2]) AS x ORDER BY x NULLS LAST LIMIT 3 OFFSET 1'),
  q("SELECT MIN(x), MAX(x), SUM(x) FROM UNNEST([1.0, CAST('nan' AS FLOAT64), 3]) AS x"),
  q("SELECT x FROM UNNEST([1.0, CAST('nan' AS FLOAT64), NULL, 3]) AS x ORDER BY x"),
  q("SELECT x FROM UNNEST([1.0, CAST('nan' AS FLOAT64), NULL, 3]) AS x ORDER BY x DESC"),
  q('SELECT x, o FROM UNNEST([5, 6]) AS x WITH OFFSET AS o ORDER BY o DESC'),
  q('SELECT * FROM UNNEST([STRUCT(1 AS a, "x" AS b), STRUCT(2 AS a, "y" AS b)]) AS s WITH OFFSET ORDER BY a'),
  q('SELECT id, s, f, n, b, ts, d, y, j, tags, geo FROM ds.types ORDER BY id'),
  q('SELECT ID, types.S FROM `p.ds.types` WHERE Id = 1'),
  q(
    'SELECT geo.country, COUNT(*) AS n, SUM(n), AVG(id), MIN(ts), MAX(d), ANY_VALUE(b) FROM ds.types WHERE id IN (1, 4) GROUP BY geo.country',
  ),
  q('SELECT geo.country AS c, COUNT(*) AS n FROM ds.types GROUP BY c HAVING n > 1 ORDER BY c'),
  q('SELECT geo.country AS c, SUM(id) FROM ds.types GROUP BY 1 HAVING SUM(id) > 1 ORDER BY 2 DESC, 1'),
  q('SELECT UPPER(s) AS s, COUNT(*) AS n FROM ds.types GROUP BY s'),
  q('SELECT id + 1 AS k, COUNT(*) FROM ds.types GROUP BY k ORDER BY k DESC'),
  q('SELECT LEFT(s, 0) AS s, COUNT(*) AS n FROM ds.types GROUP BY s'),
  q('SELECT t, COUNT(*) AS n FROM ds.types, UNNEST(tags) AS t GROUP BY t ORDER BY t'),
  q('SELECT id, t, o FROM ds.types AS x LEFT JOIN UNNEST(x.tags) AS t WITH OFFSET AS o ORDER BY id, o'),
  q('SELECT id, p.x, p.name FROM ds.types CROSS JOIN UNNEST(points) AS p ORDER BY id, p.x'),
  q('SELECT id, x FROM ds.types, types.points ORDER BY id, x'),
  q(
    'SELECT id, ARRAY(SELECT UPPER(t) FROM UNNEST(tags) AS t ORDER BY t) AS u, (SELECT COUNT(*) FROM UNNEST(points)) AS c FROM ds.types ORDER BY id',
  ),
  q(
    'SELECT 1 AS id, s, ROW_NUMBER() OVER (ORDER BY id) AS n FROM ds.types QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY s) = 1',
  ),
  q('SELECT -id AS id FROM ds.types ORDER BY id LIMIT 2'),
  q('SELECT types.id, COUNT(*) FROM ds.types, UNNEST(tags) AS t GROUP BY id ORDER BY id'),
  q('SELECT UPPER(s) AS s FROM ds.types WHERE s = "alpha"'),
  q('SELECT MAX(id) AS id FROM ds.types GROUP BY b HAVING MAX(id) > 1 ORDER BY id'),
  q('SELECT b, MAX(id) AS id FROM ds.types GROUP BY b HAVING id > 1 ORDER BY id'),
  q('SELECT DISTINCT geo.country FROM ds.types ORDER BY 1'),
  q(
    'SELECT id, tags[SAFE_OFFSET(0)], geo.city, ARRAY_TO_STRING(tags, "|"), points[SAFE_OFFSET(1)].name FROM ds.types ORDER BY id',
  ),
  q(
    'SELECT id, TO_JSON_STRING(t) FROM (SELECT id, s, n, b, ts, d, y, tags, geo, points FROM ds.types) AS t ORDER BY id',
  ),
  q(
    'SELECT TO_JSON_STRING(f), TO_JSON_STRING(STRUCT(f AS x, id)), TO_JSON_STRING((SELECT AS STRUCT t.* EXCEPT (j, f))) FROM ds.types AS t ORDER BY id',
  ),
  q(
    'SELECT CAST(f AS STRING), CAST(n AS STRING), CAST(ts AS STRING), CAST(d AS STRING), CAST(b AS STRING), CAST(id AS STRING) FROM ds.types ORDER BY id',
  ),
  q('SELECT f > 0, f = f, f != 1, f <= 1.5, -f, f + 1, f * 2 FROM ds.types ORDER BY id'),
  q(
    "SELECT JSON_VALUE(j, '$.a'), JSON_QUERY(j, '$.b'), j.b.c, LAX_INT64(j.s), JSON_QUERY_ARRAY(j, '$.list'), LAX_FLOAT64(j.a) FROM ds.types ORDER BY id",
  ),
  q(
    'SELECT UNIX_MILLIS(ts), TIMESTAMP_TRUNC(ts, DAY), TIMESTAMP_TRUNC(ts, MONTH), DATE(ts), EXTRACT(DAYOFWEEK FROM ts), FORMAT_TIMESTAMP("%F %T %E*S", ts), TIMESTAMP_DIFF(ts, TIMESTAMP "2026-01-01", HOUR), TIMESTAMP_ADD(ts, INTERVAL id DAY), DATE_ADD(d, INTERVAL id MONTH), DATE_TRUNC(d, WEEK), UNIX_DATE(d) FROM ds.types ORDER BY id',
  ),
  q(
    'SELECT SUBSTR(s, -3, 2), LENGTH(s), UPPER(s), LPAD(s, 8, "é"), REGEXP_EXTRACT(s, r"(\\pL+)$"), SPLIT(s, " "), TRIM(s), STRPOS(s, "é"), CONCAT(s, "!"), s || "?", REPLACE(s, "a", "") FROM ds.types ORDER BY id',
  ),
  q(
    'SELECT id, ROW_NUMBER() OVER (PARTITION BY b ORDER BY id DESC), RANK() OVER (ORDER BY geo.country), LAG(id) OVER (ORDER BY id), LEAD(id, 2, -1) OVER (ORDER BY id), FIRST_VALUE(s) OVER (ORDER BY s), LAST_VALUE(s) OVER (ORDER BY s ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), SUM(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), COUNT(*) OVER (), COUNT(s) OVER (PARTITION BY b), AVG(id) OVER (ORDER BY id), MIN(id) OVER (ORDER BY id DESC), SUM(id) OVER (ORDER BY geo.country), DENSE_RANK() OVER (ORDER BY b) FROM ds.types ORDER BY id',
  ),
  q('SELECT b, SUM(COUNT(*)) OVER (ORDER BY b) AS running FROM ds.types GROUP BY b ORDER BY b'),
  q('SELECT id FROM ds.types WHERE TRUE QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY ts DESC) = 1 ORDER BY id'),
  q('SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS n FROM ds.types WHERE TRUE QUALIFY n > 2'),
  q("SELECT id, IF(id > 100, ERROR('x'), id) AS checked FROM ds.types ORDER BY id"),
  q("SELECT IF(id > 1, ERROR(CONCAT('no ', CAST(id AS STRING))), 'a') FROM ds.types"),
  q("SELECT ERROR('x') FROM ds.types WHERE FALSE"),
  q('SELECT a.id, b.id AS other FROM ds.types AS a JOIN ds.types AS b ON a.id = b.id - 1 ORDER BY 1'),
  q('SELECT a.id, b.id AS other FROM ds.types AS a LEFT JOIN ds.types AS b ON a.id = b.id - 2 ORDER BY 1'),
  q('SELECT a.id, b.id AS other FROM ds.types AS a RIGHT JOIN ds.types AS b ON a.id = b.id - 2 ORDER BY 2'),
  q('SELECT a.id, b.id AS other FROM ds.types AS a FULL JOIN ds.types AS b ON a.id = b.id - 2 ORDER BY 1, 2'),
  q('SELECT * FROM (SELECT 1 AS k, 2 AS a) AS x FULL JOIN (SELECT 3 AS k, 4 AS b) AS y USING (k) ORDER BY k'),
  q(
    'SELECT k, x.k AS left_key, a, b FROM (SELECT 1 AS k, 2 AS a) AS x LEFT JOIN (SELECT 1 AS k, 4 AS b) AS y USING (k)',
  ),
  q('SELECT id FROM ds.types AS t WHERE EXISTS (SELECT 1 FROM UNNEST(t.tags) AS g WHERE g = "t1") ORDER BY id'),
  q('SELECT id FROM ds.types AS t WHERE NOT EXISTS (SELECT 1 FROM ds.types AS u WHERE u.id = t.id + 1)'),
  q('SELECT id FROM ds.types WHERE id IN (SELECT x FROM UNNEST([1, 3]) AS x) ORDER BY id'),
  q('SELECT id FROM ds.types WHERE id NOT IN (SELECT x FROM UNNEST([1, NULL]) AS x)'),
  q('SELECT id, (SELECT MAX(u.id) FROM ds.types AS u WHERE u.id < t.id) FROM ds.types AS t ORDER BY id'),
  q('SELECT 1 AS a, "x" AS b UNION ALL SELECT 2.5, NULL ORDER BY a DESC'),
  q('SELECT 1 AS a UNION DISTINCT SELECT 1 UNION DISTINCT SELECT NULL ORDER BY a LIMIT 5'),
  q('SELECT x FROM UNNEST([1, 2, 2, 3]) AS x EXCEPT DISTINCT SELECT 3 ORDER BY x'),
  q('SELECT x FROM UNNEST([1, 2, 2, 3]) AS x INTERSECT DISTINCT SELECT x FROM UNNEST([2, 3]) AS x ORDER BY x'),
  q('(SELECT 1 AS a) UNION ALL (SELECT 2 ORDER BY 1 LIMIT 1) ORDER BY a'),
  q('WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT a.x, b.y FROM a, b'),
  q('SELECT * FROM (WITH a AS (SELECT 1 AS x) SELECT * FROM a) AS s'),
  q('WITH types AS (SELECT 7 AS id) SELECT id FROM types'),
  q('SELECT * EXCEPT (f, j) REPLACE (UPPER(s) AS s, id * 2 AS id) FROM ds.types WHERE id = 1'),
  q('SELECT t.*, 1 AS extra FROM (SELECT id, s FROM ds.types) AS t ORDER BY id'),
  q('SELECT geo.* FROM ds.types WHERE id = 1'),
  q('SELECT id AS ts, ts AS other FROM ds.types ORDER BY ts DESC'),
  q('SELECT COUNT(*), 1 + 1 FROM ds.types'),
  q('SELECT MAX(id) FROM ds.types HAVING COUNT(*) > 100'),
  q('SELECT id FROM ds.types GROUP BY s'),
  q('SELECT id FROM ds.types WHERE COUNT(*) > 1'),
  q('SELECT nothing FROM ds.types'),
  q('SELECT id FROM ds.types WHERE s = 1'),
  q('SELECT a.id FROM ds.types AS a, ds.types AS b WHERE id = 1'),
  q('SELECT @s, @i, @f, @b, @t, @d, @list, @ids, @none', {
    s: ['STRING', "it's; DROP TABLE x --"],
    i: ['INT64', '-9223372036854775808'],
    f: ['FLOAT64', '1.5'],
    b: ['BOOL', 'true'],
    t: ['TIMESTAMP', '2026-01-05 10:00:00.5+00'],
    d: ['DATE', '2026-01-05'],
    list: ['ARRAY<STRING>', ['a', "b'"]],
    ids: ['ARRAY<INT64>', []],
    none: ['STRING', null],
  }),
  q('SELECT id FROM ds.types WHERE id IN UNNEST(@ids) AND s IN UNNEST(@names) LIMIT @n', {
    ids: ['ARRAY<INT64>', ['1', '2']],
    names: ['ARRAY<STRING>', ['alpha']],
    n: ['INT64', '5'],
  }),
];

const WINDOW: Parameters = {
  window_start: ['TIMESTAMP', '2026-11-29 10:00:00+00'],
  window_end: ['TIMESTAMP', '2026-11-29 12:00:00+00'],
};
const DAYS = `((event_time >= TIMESTAMP '2026-11-28 00:00:00+00' AND event_time < TIMESTAMP '2026-11-30 00:00:00+00') OR event_time IS NULL)`;

const join = (source: string): string => `MERGE \`p.ds.joined\` AS ledger
USING (
  WITH appended AS (
    SELECT unique_key, event_id, event_status, event_time, join_key, sequence, payload, extra, attributes, message_id, publish_time, ingest_time, ${source}
    WHERE ${DAYS}
  ),
  new_events AS (
    SELECT * FROM appended WHERE TRUE
    QUALIFY ROW_NUMBER() OVER (PARTITION BY unique_key, event_id ORDER BY ingest_time, message_id, event_time) = 1
  ),
  selected AS (
    SELECT new_events.unique_key, new_events.event_id, new_events.payload, JSON_VALUE(new_events.payload, '$.a') AS a, reference.target_attribute, reference.join_key IS NOT NULL AS enriched
    FROM new_events
    LEFT JOIN (SELECT * FROM \`p.ds.reference\` WHERE TRUE QUALIFY ROW_NUMBER() OVER (PARTITION BY join_key ORDER BY updated_at DESC NULLS LAST, target_attribute) = 1) AS reference
      ON reference.join_key = new_events.join_key
  ),
  keyed AS (
    SELECT selected.*, new_events.event_time, new_events.change_time,
      TO_HEX(SHA256(TO_JSON_STRING([@join_name, selected.unique_key, selected.event_id, CAST(UNIX_MICROS(new_events.event_time) AS STRING), CAST(selected.target_attribute AS STRING)]))) AS result_id
    FROM selected JOIN new_events ON new_events.unique_key = selected.unique_key AND new_events.event_id = selected.event_id
  )
  SELECT result_id, unique_key, event_id, event_time,
    TO_JSON_STRING((SELECT AS STRUCT keyed.* EXCEPT (result_id, change_time, event_time))) AS message
  FROM keyed
  WHERE enriched OR change_time <= @wait_before
  QUALIFY ROW_NUMBER() OVER (PARTITION BY result_id ORDER BY target_attribute) = 1
) AS fresh
ON ledger.result_id = fresh.result_id AND ledger.join_name = @join_name
  AND ${DAYS.replaceAll('event_time', 'ledger.event_time')}
WHEN NOT MATCHED THEN
  INSERT (join_name, result_id, run_id, unique_key, event_id, event_time, window_start, window_end, message)
  VALUES (@join_name, fresh.result_id, @run_id, fresh.unique_key, fresh.event_id, fresh.event_time, @window_start, @window_end, fresh.message)`;
const JOIN: Parameters = {
  ...WINDOW,
  join_name: ['STRING', 'default'],
  run_id: ['STRING', 'run-1'],
  wait_before: ['TIMESTAMP', '2026-11-29 11:30:00+00'],
};

/** The kinds of statements that the project sends. */
export const PROJECT: readonly Case[] = [
  q('SELECT * FROM ds.events_unique ORDER BY event_id'),
  q('SELECT COUNT(*) AS n, COUNTIF(event_status = "step") AS steps FROM ds.events_unique WHERE unique_key = @key', {
    key: ['STRING', 'k1'],
  }),
  q(
    'SELECT unique_key, COUNT(*) AS n FROM ds.events_unique GROUP BY unique_key ORDER BY n DESC, unique_key LIMIT 2 OFFSET 1',
  ),
  q('SELECT * FROM ds.summaries_latest ORDER BY unique_key'),
  q('SELECT COUNT(*) AS n FROM ds.reconciliation'),
  q(
    'SELECT COUNT(*) AS events, ARRAY_AGG(DISTINCT day IGNORE NULLS ORDER BY day) AS days FROM (SELECT UNIX_DATE(DATE(event_time)) AS day FROM APPENDS(TABLE `p.ds.events`, @window_start, @window_end))',
    WINDOW,
  ),
  q(
    `SELECT FORMAT_TIMESTAMP('%Y-%m-%d', event_time) AS day, COUNT(*) AS n, COUNTIF(event_time IS NULL) AS without, MIN(event_time) AS first, MAX(event_time) AS last FROM APPENDS(TABLE \`p.ds.events\`, @window_start, @window_end) GROUP BY day ORDER BY day`,
    WINDOW,
  ),
  q(join('_CHANGE_TIMESTAMP AS change_time\n    FROM APPENDS(TABLE `p.ds.events`, @window_start, @window_end)'), JOIN),
  q(
    join(
      "ingest_time AS change_time\n    FROM (SELECT * FROM `p.ds.events` WHERE ingest_time >= TIMESTAMP '2026-11-01')",
    ),
    JOIN,
  ),
  q(
    `SELECT result_id, unique_key, event_id, message, UNIX_MICROS(event_time) AS event_time FROM \`p.ds.joined\` WHERE join_name = @join_name AND run_id = @run_id AND ${DAYS} AND result_id > @after ORDER BY result_id`,
    {
      join_name: ['STRING', 'default'],
      run_id: ['STRING', 'run-0'],
      after: ['STRING', ''],
    },
  ),
];

export const CHANGES: readonly Case[] = [
  {
    sql: "INSERT INTO ds.reference (join_key, updated_at) VALUES ('n1', TIMESTAMP '2026-03-01 00:00:00 UTC'), ('n2', NULL)",
    result:
      "SELECT * FROM ds.reference UNION ALL SELECT 'n1', NULL, TIMESTAMP '2026-03-01 00:00:00 UTC' UNION ALL SELECT 'n2', NULL, NULL",
  },
  {
    sql: 'INSERT INTO ds.reference SELECT unique_key, MAX(event_id), MIN(event_time) FROM ds.events GROUP BY unique_key',
    result:
      'SELECT * FROM ds.reference UNION ALL SELECT unique_key, MAX(event_id), MIN(event_time) FROM ds.events GROUP BY unique_key',
  },
  {
    sql: "UPDATE ds.reference SET target_attribute = CONCAT(join_key, '!'), updated_at = NULL WHERE target_attribute = 'old'",
    result:
      "SELECT * REPLACE (IF(target_attribute = 'old', CONCAT(join_key, '!'), target_attribute) AS target_attribute, IF(target_attribute = 'old', NULL, updated_at) AS updated_at) FROM ds.reference",
  },
  {
    sql: "UPDATE ds.reference AS r SET target_attribute = s.v FROM (SELECT 'j3' AS k, 'seen' AS v) AS s WHERE r.join_key = s.k",
    result: "SELECT * REPLACE (IF(join_key = 'j3', 'seen', target_attribute) AS target_attribute) FROM ds.reference",
  },
  {
    sql: "DELETE FROM ds.reference WHERE target_attribute != 'new'",
    result: "SELECT * FROM ds.reference WHERE target_attribute = 'new' OR target_attribute IS NULL",
  },
  { sql: 'DELETE ds.reference WHERE TRUE', result: 'SELECT * FROM ds.reference WHERE FALSE' },
  {
    sql: `MERGE ds.reference AS t USING (SELECT 'j3' AS k, 'x' AS v UNION ALL SELECT 'n1', 'y') AS s ON t.join_key = s.k
WHEN MATCHED AND t.target_attribute IS NULL THEN UPDATE SET target_attribute = s.v, updated_at = TIMESTAMP '2026-05-01 00:00:00 UTC'
WHEN NOT MATCHED THEN INSERT (join_key, target_attribute) VALUES (s.k, s.v)`,
  },
  {
    sql: `MERGE ds.reference AS t USING (SELECT 'j1' AS k) AS s ON t.join_key = s.k
WHEN MATCHED AND t.target_attribute = 'old' THEN DELETE
WHEN MATCHED THEN UPDATE SET target_attribute = UPPER(t.target_attribute)
WHEN NOT MATCHED BY SOURCE AND t.join_key = 'unused' THEN DELETE`,
  },
  {
    sql: "MERGE ds.reference AS t USING (SELECT 'j1' AS k UNION ALL SELECT 'j1') AS s ON t.join_key = s.k WHEN MATCHED THEN DELETE",
  },
  {
    sql: `MERGE ds.reference AS t USING (SELECT 'j1' AS join_key, 'v' AS target_attribute, CAST(NULL AS TIMESTAMP) AS updated_at UNION ALL SELECT 'a', 'b', NULL) AS s ON FALSE
WHEN NOT MATCHED THEN INSERT ROW WHEN NOT MATCHED BY SOURCE THEN DELETE`,
  },
];

/** Right expressions that fail when they run, where another result than Google's would be the alternative. */
export const FAILING: readonly string[] = [
  `JSON_VALUE('{"a":1e3}', '$.a')`,
  `JSON_VALUE('{"a":1.10}', '$.a')`,
  `JSON_QUERY('{"a":{"b":1.10}}', '$.a')`,
  `JSON_VALUE_ARRAY('{"a":[1.50]}', '$.a')`,
  `TO_JSON_STRING(PARSE_JSON('{"a":{"c":1,"b":2}}'))`,
  `SAFE_CONVERT_BYTES_TO_STRING(b'a\\xff')`,
];

/** Right GoogleSQL that is not supported, and wrong statements: both are refused with a position. */
export const REFUSED: readonly string[] = [
  'CREATE TABLE ds.x (a INT64)',
  'SELECT FARM_FINGERPRINT("abc")',
  'SELECT APPROX_COUNT_DISTINCT(id) FROM ds.types',
  'SELECT id, COUNT(*) FROM ds.types GROUP BY ROLLUP (id)',
  'WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a',
  'SELECT * FROM ds.types TABLESAMPLE SYSTEM (10 PERCENT)',
  'SELECT SUM(id) OVER w FROM ds.types WINDOW w AS (ORDER BY id)',
  'SELECT TIMESTAMP_TRUNC(ts, DAY, "Europe/Berlin") FROM ds.types',
  'SELECT n * n FROM ds.types',
  'SELECT REGEXP_CONTAINS(s, s) FROM ds.types',
  'SELECT JSON_VALUE(j, s) FROM ds.types',
  'SELECT SAFE.SUBSTR(s, 1, -1) FROM ds.types',
  'SELECT id, id FROM ds.types',
  'SELECT * FROM ds.missing',
  'SELECT * FROM ds.types FOR SYSTEM_TIME AS OF TIMESTAMP "2020-01-01"',
  'SELECT a.id FROM ds.types AS a, ds.types FOR SYSTEM_TIME AS OF TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR) AS b',
  'SELECT * FROM APPENDS(TABLE ds.events, NULL, TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL 1 SECOND))',
  'SELECT * FROM APPENDS(TABLE ds.events, TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 8 DAY), NULL)',
  'SELECT * FROM APPENDS(TABLE ds.events_unique, NULL, NULL)',
  'SELECT _CHANGE_TIMESTAMP FROM ds.events',
  'SELECT _row FROM ds.events',
  'DELETE FROM ds.reference',
  'INSERT INTO ds.reference (target_attribute) VALUES ("x")',
  'INSERT INTO ds.events_unique (event_id) VALUES ("x")',
  'UPDATE ds.reference SET nothing = 1 WHERE TRUE',
  'SELECT @missing',
  'SELECT 1; SELECT 2',
  "SELECT 'open",
];
