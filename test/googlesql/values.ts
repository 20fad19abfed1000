import {
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimeValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { Field } from '../../local/bigquery/sql/types.ts';

/** A value of Google's wire format: one member, named after the type. */
export type Decodable = Readonly<Record<string, unknown>>;

/** A fixture's value: text (BYTES in hex), lists, objects. */
export type Value = string | null | readonly Value[] | { readonly [name: string]: Value };

function split(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let current = '';
  for (const character of text) {
    if (character === '<') depth += 1;
    if (character === '>') depth -= 1;
    if (character === ',' && depth === 0) {
      parts.push(current.trim());
      current = '';
    } else current += character;
  }
  return [...parts, current.trim()];
}

function structFields(type: string): { name: string; type: string }[] {
  return split(type.slice('STRUCT<'.length, -1)).map((part) => {
    const space = part.indexOf(' ');
    return { name: part.slice(0, space), type: part.slice(space + 1) };
  });
}

/** Google's TypeProto of a type's name. */
export function typeProto(type: string): object {
  if (type.startsWith('ARRAY<'))
    return { typeKind: 'TYPE_ARRAY', arrayType: { elementType: typeProto(type.slice(6, -1)) } };
  if (!type.startsWith('STRUCT<')) return { typeKind: `TYPE_${type === 'FLOAT64' ? 'DOUBLE' : type}` };
  const field = structFields(type).map((one) => ({ fieldName: one.name, fieldType: typeProto(one.type) }));
  return { typeKind: 'TYPE_STRUCT', structType: { field } };
}

/** Little-endian two's complement in as few bytes as hold the sign. */
function numeric(text: string): Buffer {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  let value = BigInt(whole + fraction.padEnd(9, '0'));
  if (text.startsWith('-')) value = -value;
  const bytes: number[] = [];
  for (;;) {
    bytes.push(Number(value & 0xffn));
    value >>= 8n;
    const sign = (bytes.at(-1) ?? 0) & 0x80;
    if ((value === 0n && !sign) || (value === -1n && sign)) return Buffer.from(bytes);
  }
}

function micros(text: string): bigint {
  const zoned = /(?:Z|[+-]\d{2}(?::?\d{2})?)$/i.test(text.slice(10)) ? text : `${text}Z`;
  const iso = zoned.replace(' ', 'T').replace(/([+-]\d{2})$/, '$1:00');
  const fraction = /\.(\d+)/.exec(iso)?.[1] ?? '';
  return BigInt(Date.parse(iso.replace(/\.\d+/, ''))) * 1000n + BigInt(fraction.padEnd(6, '0'));
}

export function encode(type: string, value: Value): Decodable {
  if (value === null) return {};
  if (type.startsWith('ARRAY<'))
    return { arrayValue: { element: (value as Value[]).map((item) => encode(type.slice(6, -1), item)) } };
  if (type.startsWith('STRUCT<')) {
    const members = value as Record<string, Value>;
    return {
      structValue: { field: structFields(type).map((field) => encode(field.type, members[field.name] ?? null)) },
    };
  }
  const text = value as string;
  switch (type) {
    case 'INT64':
      return { int64Value: text };
    case 'FLOAT64':
      return { doubleValue: Number(text) };
    case 'BOOL':
      return { boolValue: text === 'true' };
    case 'BYTES':
      return { bytesValue: Buffer.from(text, 'hex') };
    case 'NUMERIC':
      return { numericValue: numeric(text) };
    case 'DATE':
      return { dateValue: Date.parse(`${text}T00:00:00Z`) / 86_400_000 };
    case 'JSON':
      return { jsonValue: text };
    case 'TIMESTAMP': {
      const at = micros(text);
      const seconds = (at - (((at % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n;
      return { timestampValue: { seconds: String(seconds), nanos: Number(at - seconds * 1_000_000n) * 1000 } };
    }
    default:
      return { stringValue: text };
  }
}

function decimal(scaled: bigint): string {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(10, '0');
  return `${scaled < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

/** Google's value in a form that both sides share. */
export function fromGoogle(cell: Decodable): unknown {
  const name = Object.keys(cell).find((key) => key !== 'value');
  if (name === undefined) return null;
  const value = cell[name];
  switch (name) {
    case 'arrayValue':
      return ((value as { element?: Decodable[] }).element ?? []).map(fromGoogle);
    case 'structValue':
      return ((value as { field?: Decodable[] }).field ?? []).map(fromGoogle);
    case 'timestampValue': {
      const { seconds, nanos } = value as { seconds?: string; nanos?: number };
      return `us ${BigInt(seconds ?? 0) * 1_000_000n + BigInt(Math.floor((nanos ?? 0) / 1000))}`;
    }
    case 'dateValue':
      return `day ${String(value)}`;
    case 'bytesValue':
      return `hex ${Buffer.from(value as Uint8Array).toString('hex')}`;
    case 'jsonValue':
      return `json ${JSON.stringify(sorted(JSON.parse(value as string)))}`;
    case 'doubleValue':
      return `float ${String(Number(value))}`;
    case 'numericValue': {
      const bytes = value as Uint8Array;
      let scaled = 0n;
      for (const byte of [...bytes].reverse()) scaled = (scaled << 8n) | BigInt(byte);
      return decimal(BigInt.asIntN(bytes.length * 8, scaled));
    }
    default:
      return typeof value === 'string' ? value : String(value);
  }
}

/** DuckDB's value of an output column in the same form. */
export function fromDuckdb(field: Field, value: DuckDBValue): unknown {
  if (value === null) return null;
  if (field.mode === 'REPEATED') {
    return (value as DuckDBListValue).items.map((item) => fromDuckdb({ ...field, mode: 'NULLABLE' }, item));
  }
  if (value instanceof DuckDBStructValue) {
    const inner = Object.values(value.entries);
    return (field.fields ?? []).map((one, index) => fromDuckdb(one, inner[index] ?? null));
  }
  if (value instanceof DuckDBTimestampTZValue || value instanceof DuckDBTimestampValue) return `us ${value.micros}`;
  if (value instanceof DuckDBDateValue) return `day ${value.days}`;
  if (value instanceof DuckDBBlobValue) return `hex ${Buffer.from(value.bytes).toString('hex')}`;
  if (value instanceof DuckDBDecimalValue)
    return decimal(value.scale === 9 ? value.value : value.value * 10n ** BigInt(9 - value.scale));
  if (value instanceof DuckDBTimeValue) return value.toString();
  if (field.type === 'JSON') return `json ${JSON.stringify(sorted(JSON.parse(value as string)))}`;
  if (field.type === 'FLOAT') return `float ${String(Number(value))}`;
  return typeof value === 'string' ? value : String(value);
}
