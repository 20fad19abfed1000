import type { Scope } from './scope.ts';
import { fail } from './scope.ts';
import { dateText, parseDate, parseTimestamp } from './timestamp-text.ts';
import { commonType, converts, duckdbType, sameType, text, typeName, type Type, type Typed } from './typing.ts';

/** A TIMESTAMP constant. */
export function timestampConstant(micros: bigint, fixed?: Typed['fixed']): Typed {
  return { sql: `make_timestamptz(${micros})`, type: 'TIMESTAMP', value: micros, ...(fixed && { fixed }) };
}

export function dateConstant(day: bigint, fixed?: Typed['fixed']): Typed {
  return { sql: `DATE '${dateText(day)}'`, type: 'DATE', value: day, ...(fixed && { fixed }) };
}

export function nullOf(type: Type): Typed {
  return { sql: `CAST(NULL AS ${duckdbType(type)})`, type, value: null };
}

/** Reads the text of a literal or parameter as a value of a scalar type. */
export function constant(scope: Scope, type: Type, source: string, pos: number, fixed?: Typed['fixed']): Typed {
  const bad = (): Error => fail(scope, pos, `Invalid ${typeName(type)} literal "${source}"`);
  const made = (sql: string, value: string | bigint = source): Typed => ({ sql, type, value, ...(fixed && { fixed }) });
  switch (type) {
    case 'STRING':
      return made(text(source));
    case 'INT64': {
      if (!/^[+-]?\d+$/.test(source)) throw bad();
      const value = BigInt(source.replace('+', ''));
      if (BigInt.asIntN(64, value) !== value) throw bad();
      // The least INT64 has no literal of its own: minus applies to a number that is too large.
      return made(value === -(2n ** 63n) ? '(-9223372036854775807 - 1)' : `CAST(${value} AS BIGINT)`, value);
    }
    case 'FLOAT64': {
      const value = /^[+-]?(inf|infinity|nan)$/i.test(source) ? source : String(Number(source));
      if (source.trim() === '' || value === 'NaN' || value.includes('Infinity')) throw bad();
      return made(`CAST('${value}' AS DOUBLE)`);
    }
    case 'NUMERIC': {
      const match = /^[+-]?(\d*)(?:\.(\d*))?$/.exec(source);
      if (!match || (match[1] ?? '').length > 29 || !/\d/.test(source) || (match[2] ?? '').length > 9) throw bad();
      return made(`CAST('${source}' AS DECIMAL(38, 9))`);
    }
    case 'BOOL':
      if (!/^(true|false)$/i.test(source)) throw bad();
      return made(source.toUpperCase());
    case 'TIMESTAMP': {
      const micros = parseTimestamp(source);
      if (micros === undefined) throw fail(scope, pos, `Could not cast literal "${source}" to type TIMESTAMP`);
      return timestampConstant(micros, fixed);
    }
    case 'DATE': {
      const day = parseDate(source);
      if (day === undefined) throw fail(scope, pos, `Could not cast literal "${source}" to type DATE`);
      return dateConstant(day, fixed);
    }
    case 'DATETIME': {
      const micros = /[zZ+]|UTC|-\d+$/.test(source.slice(10)) ? undefined : parseTimestamp(source);
      if (micros === undefined) throw fail(scope, pos, `Could not cast literal "${source}" to type DATETIME`);
      return made(`make_timestamp(${micros})`);
    }
    case 'TIME':
      if (!/^\d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,6})?$/.test(source)) throw bad();
      return made(`CAST(${text(source)} AS TIME)`);
    case 'BYTES':
      return made(`from_base64(${text(source)})`);
    case 'JSON':
      try {
        JSON.parse(source);
      } catch {
        throw bad();
      }
      return made(`CAST(${text(source)} AS JSON)`);
    default:
      throw bad();
  }
}

/**
 * Converts a value to a type as GoogleSQL does by itself.
 * @throws SqlError when it does not
 */
export function coerce(scope: Scope, value: Typed, to: Type, pos: number, what = 'Value'): Typed {
  if (sameType(value.type, to)) return value;
  if (!converts(value, to)) {
    throw fail(scope, pos, `${what} has type ${typeName(value.type)} which cannot be coerced to type ${typeName(to)}`);
  }
  if (value.type === 'NULL')
    return value.value === null ? nullOf(to) : { sql: `CAST(${value.sql} AS ${duckdbType(to)})`, type: to };
  if (value.fixed !== undefined && typeof value.value === 'string' && value.type === 'STRING') {
    if (to === 'BYTES') return { sql: `encode(${value.sql})`, type: to };
    return constant(scope, to, value.value, pos, value.fixed);
  }
  if (value.fixed === 'literal' && to === 'NUMERIC' && typeof value.value === 'string')
    return constant(scope, to, value.value, pos);
  return { sql: `CAST(${value.sql} AS ${duckdbType(to)})`, type: to };
}

/** Converts all values to their common type. */
export function unify(
  scope: Scope,
  values: readonly Typed[],
  pos: number,
  what: string,
): { type: Type; values: Typed[] } {
  const type = commonType(values);
  if (type === undefined) {
    throw fail(
      scope,
      pos,
      `No matching signature for ${what} for argument types: ${values.map((one) => typeName(one.type)).join(', ')}`,
    );
  }
  return { type, values: values.map((value) => coerce(scope, value, type, pos)) };
}
