import { coerce } from './coerce.ts';
import { refuse, type Scope } from './scope.ts';
import { sameType, text, typeName, type Scalar, type Type, type Typed } from './typing.ts';

/** What a cast between two types is in DuckDB; NULL where the value does not fit (then CAST fails and SAFE_CAST gives NULL). */
const CASTS: Partial<Record<string, (sql: string) => string>> = {
  'STRING>INT64': (x) => `gsql_int(${x})`,
  'STRING>FLOAT64': (x) => `gsql_float(${x})`,
  'STRING>NUMERIC': (x) => `gsql_numeric(${x})`,
  'STRING>BOOL': (x) => `gsql_bool(${x})`,
  'STRING>TIMESTAMP': (x) => `gsql_parse_timestamp(${x})`,
  'STRING>DATE': (x) => `gsql_parse_date(${x})`,
  'STRING>BYTES': (x) => `encode(${x})`,
  'INT64>STRING': (x) => `CAST(${x} AS VARCHAR)`,
  'INT64>FLOAT64': (x) => `CAST(${x} AS DOUBLE)`,
  'INT64>NUMERIC': (x) => `CAST(${x} AS DECIMAL(38, 9))`,
  'INT64>BOOL': (x) => `(${x} != 0)`,
  'FLOAT64>STRING': (x) => `gsql_float_string(${x})`,
  'FLOAT64>INT64': (x) => `TRY_CAST(round(${x}) AS BIGINT)`,
  'FLOAT64>NUMERIC': (x) => `TRY_CAST(${x} AS DECIMAL(38, 9))`,
  'NUMERIC>STRING': (x) => `gsql_numeric_text(${x})`,
  'NUMERIC>INT64': (x) => `TRY_CAST(round(${x}) AS BIGINT)`,
  'NUMERIC>FLOAT64': (x) => `CAST(${x} AS DOUBLE)`,
  'BOOL>STRING': (x) => `CAST(${x} AS VARCHAR)`,
  'BOOL>INT64': (x) => `CAST(${x} AS BIGINT)`,
  'TIMESTAMP>STRING': (x) => `gsql_timestamp_text(${x})`,
  'TIMESTAMP>DATE': (x) => `CAST(${x} AT TIME ZONE 'UTC' AS DATE)`,
  'TIMESTAMP>DATETIME': (x) => `(${x} AT TIME ZONE 'UTC')`,
  'DATE>STRING': (x) => `strftime(${x}, '%Y-%m-%d')`,
  'DATE>TIMESTAMP': (x) => `(CAST(${x} AS TIMESTAMP) AT TIME ZONE 'UTC')`,
  'DATE>DATETIME': (x) => `CAST(${x} AS TIMESTAMP)`,
  'DATETIME>TIMESTAMP': (x) => `(${x} AT TIME ZONE 'UTC')`,
  'DATETIME>DATE': (x) => `CAST(${x} AS DATE)`,
};
const CAN_FAIL = /^STRING>(?!BYTES)|>INT64$|^FLOAT64>NUMERIC$/;

/** CAST and SAFE_CAST. */
export function castTo(scope: Scope, value: Typed, to: Type, safe: boolean, pos: number): Typed {
  if (value.type === 'NULL' || sameType(value.type, to)) return coerce(scope, value, to, pos);
  if (
    value.fixed !== undefined &&
    value.type === 'STRING' &&
    !safe &&
    ['TIMESTAMP', 'DATE', 'DATETIME', 'TIME'].includes(to as Scalar)
  ) {
    const { fixed: _fixed, ...plain } = coerce(scope, value, to, pos);
    return plain;
  }
  if (typeof value.type === 'object' && value.type.kind === 'array' && value.type.element === 'NULL')
    return coerce(scope, value, to, pos);
  const name = typeof value.type === 'string' && typeof to === 'string' ? `${value.type}>${to}` : '';
  const cast = CASTS[name];
  if (!cast) throw refuse(scope, pos, `CAST from ${typeName(value.type)} to ${typeName(to)}`);
  const sql = cast(value.sql);
  if (safe || !CAN_FAIL.test(name) || name === 'BOOL>INT64') return { sql, type: to };
  const shown = value.type === 'STRING' ? value.sql : `CAST(${value.sql} AS VARCHAR)`;
  const message = `${text(value.type === 'STRING' ? `Could not cast string to type ${typeName(to)}: ` : `Illegal conversion to ${typeName(to)}: `)} || ${shown}`;
  return {
    sql: `CASE WHEN ${value.sql} IS NOT NULL AND ${sql} IS NULL THEN error(${message}) ELSE ${sql} END`,
    type: to,
  };
}
