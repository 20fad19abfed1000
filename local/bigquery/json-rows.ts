import type { DuckDBValue } from '@duckdb/node-api';
import type { Field } from './sql/types.ts';
import { absent, blobValue, fromText, integer, listValue, structValue, timestamp, ValueError } from './values.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * One JSON row as `tabledata.insertAll` takes it, as DuckDB values in the order of `fields`.
 * @throws ValueError
 */
export function jsonRow(fields: readonly Field[], row: JsonObject, ignoreUnknown: boolean, prefix = ''): DuckDBValue[] {
  // Column names are case-insensitive.
  const members = new Map(Object.entries(row).map(([name, value]) => [name.toLowerCase(), { name, value }]));
  const values = fields.map((field) => {
    const member = members.get(field.name.toLowerCase());
    members.delete(field.name.toLowerCase());
    return jsonValue(field, member?.value, prefix + field.name, ignoreUnknown);
  });
  const unknown = members.values().next().value;
  if (unknown !== undefined && !ignoreUnknown) {
    throw new ValueError(prefix + unknown.name, `no such field: ${prefix}${unknown.name}.`);
  }
  return values;
}

function jsonValue(field: Field, value: unknown, path: string, ignoreUnknown: boolean): DuckDBValue {
  if (value === undefined || value === null) return absent(field, path);
  if (field.mode !== 'REPEATED') {
    if (Array.isArray(value) && field.type !== 'JSON') {
      throw new ValueError(path, 'Array specified for non-repeated field.');
    }
    return jsonScalar(field, value, path, ignoreUnknown);
  }
  if (!Array.isArray(value)) throw new ValueError(path, 'This field is repeated: an array is needed.');
  return listValue(
    value.map((item: unknown) => {
      if (item === null || item === undefined) throw new ValueError(path, 'A repeated field holds no null.');
      return jsonScalar(field, item, path, ignoreUnknown);
    }),
  );
}

function jsonScalar(field: Field, value: unknown, path: string, ignoreUnknown: boolean): DuckDBValue {
  const refuse = (): never => {
    throw new ValueError(path, `Cannot convert value to ${field.type.toLowerCase()}: ${JSON.stringify(value)}`);
  };
  const text = typeof value === 'string' ? value : undefined;
  switch (field.type) {
    case 'INTEGER':
      if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
      return text !== undefined && /^[+-]?\d+$/.test(text) ? integer(BigInt(text), path) : refuse();
    case 'FLOAT': {
      if (typeof value === 'number') return value;
      if (text === undefined || text.trim() === '') return refuse();
      const number = /^[+-]?inf(inity)?$/i.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text);
      return Number.isNaN(number) && !/^nan$/i.test(text) ? refuse() : number;
    }
    case 'BOOLEAN':
      if (typeof value === 'boolean') return value;
      return text !== undefined && /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : refuse();
    case 'BYTES':
      return text !== undefined && /^[A-Za-z0-9+/_-]*={0,2}$/.test(text)
        ? blobValue(Buffer.from(text, 'base64'))
        : refuse();
    case 'RECORD': {
      if (typeof value !== 'object') return refuse();
      const inner = field.fields ?? [];
      const values = jsonRow(inner, value as JsonObject, ignoreUnknown, `${path}.`);
      return structValue(Object.fromEntries(inner.map((one, index) => [one.name, values[index] ?? null])));
    }
    case 'TIMESTAMP': {
      // A number, also as text, is seconds since the epoch.
      const seconds = text !== undefined && /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : value;
      if (typeof seconds === 'number') return timestamp(Math.round(seconds * 1_000_000), path, value);
      return text === undefined ? refuse() : (fromText('TIMESTAMP', text, path) ?? refuse());
    }
    case 'JSON':
      return text === undefined ? JSON.stringify(value) : (fromText('JSON', text, path) ?? refuse());
    case 'STRING':
    case 'NUMERIC':
      if (typeof value === 'number' || (typeof value === 'boolean' && field.type === 'STRING')) {
        return fromText(field.type, String(value), path) ?? refuse();
      }
      return text === undefined ? refuse() : (fromText(field.type, text, path) ?? refuse());
    case 'DATE':
    case 'TIME':
    case 'DATETIME':
      return text === undefined ? refuse() : (fromText(field.type, text, path) ?? refuse());
  }
}
