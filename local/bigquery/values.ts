import {
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimeValue,
  blobValue,
  listValue,
  structValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { Field } from './sql/types.ts';
import { inRange, parseDate, parseDatetime, parseTime, parseTimestamp } from './timestamps.ts';
import type { Micros } from './types.ts';

/** Why one value of a row was refused, and which (`a.b`). */
export class ValueError extends Error {
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.name = 'ValueError';
    this.field = field;
  }
}

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const NUMERIC_LIMIT = 10n ** 38n;

export function integer(value: bigint, field: string): bigint {
  if (value < INT64_MIN || value > INT64_MAX) throw new ValueError(field, `${value} is no INT64`);
  return value;
}

export function timestamp(micros: Micros | bigint | undefined, field: string, source: unknown): DuckDBTimestampTZValue {
  if (micros === undefined || !inRange(Number(micros))) {
    throw new ValueError(field, `${JSON.stringify(String(source))} is no TIMESTAMP`);
  }
  return new DuckDBTimestampTZValue(BigInt(micros));
}

export function date(days: number | undefined, field: string, source: unknown): DuckDBDateValue {
  if (days === undefined || !inRange(days * 86_400_000_000)) {
    throw new ValueError(field, `${JSON.stringify(String(source))} is no DATE`);
  }
  return new DuckDBDateValue(days);
}

/** NUMERIC: 29 digits before the point and 9 after it. */
export function numeric(text: string, field: string): DuckDBDecimalValue {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text.trim());
  if (match && (match[2] || match[3])) {
    const fraction = match[3] ?? '';
    const digits = `${match[2]}${fraction}`;
    const shift = 9 - fraction.length + Number(match[4] ?? 0);
    const scaled = shift >= 0 ? digits.padEnd(digits.length + shift, '0') : digits.slice(0, shift);
    const lost = shift >= 0 ? '' : digits.slice(shift);
    const value = BigInt(scaled || '0');
    if (!/[1-9]/.test(lost) && value < NUMERIC_LIMIT) {
      return new DuckDBDecimalValue(match[1] === '-' ? -value : value, 38, 9);
    }
  }
  throw new ValueError(field, `${JSON.stringify(text)} is no NUMERIC`);
}

export function json(text: string, field: string): string {
  try {
    JSON.parse(text);
  } catch {
    throw new ValueError(field, 'the text is no JSON');
  }
  return text;
}

/** The types that APIs carry as text. `undefined` for the others. */
export function fromText(type: Field['type'], text: string, field: string): DuckDBValue | undefined {
  switch (type) {
    case 'STRING':
      return text;
    case 'JSON':
      return json(text, field);
    case 'NUMERIC':
      return numeric(text, field);
    case 'TIMESTAMP':
      return timestamp(parseTimestamp(text), field, text);
    case 'DATE':
      return date(parseDate(text), field, text);
    case 'DATETIME': {
      const micros = parseDatetime(text);
      if (micros === undefined) throw new ValueError(field, `${JSON.stringify(text)} is no DATETIME`);
      return new DuckDBTimestampValue(BigInt(micros));
    }
    case 'TIME': {
      const micros = parseTime(text);
      if (micros === undefined) throw new ValueError(field, `${JSON.stringify(text)} is no TIME`);
      return new DuckDBTimeValue(BigInt(micros));
    }
    case 'BYTES':
    case 'INTEGER':
    case 'FLOAT':
    case 'BOOLEAN':
    case 'RECORD':
      return undefined;
  }
}

/** Checks that a value may be absent, and gives what is stored then. */
export function absent(field: Field, path: string): DuckDBValue {
  if (field.mode === 'REQUIRED') throw new ValueError(path, `Missing required field: ${path}.`);
  return field.mode === 'REPEATED' ? listValue([]) : null;
}

export { blobValue, listValue, structValue };
