import type { DuckDBValue } from '@duckdb/node-api';
import protobuf from 'protobufjs/minimal.js';
import type { ColumnPlan, MessagePlan } from './proto-schema.ts';
import { absent, blobValue, date, fromText, integer, listValue, structValue, timestamp, ValueError } from './values.ts';

type Reader = protobuf.Reader;

const DELIMITED = 2;
const UNPACKABLE = ['TYPE_STRING', 'TYPE_BYTES', 'TYPE_MESSAGE'];
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * One serialized row as DuckDB values in the order of the table's columns.
 * @throws ValueError when a value is missing, malformed or out of range
 */
export function protoRow(plan: MessagePlan, bytes: Uint8Array): DuckDBValue[] {
  const reader = protobuf.Reader.create(bytes);
  try {
    return message(plan, reader, reader.len);
  } catch (error) {
    if (error instanceof ValueError) throw error;
    throw new ValueError(
      '',
      `the row is no message of the writer schema: ${error instanceof Error ? error.message : ''}`,
    );
  }
}

function message(plan: MessagePlan, reader: Reader, end: number): DuckDBValue[] {
  const values = new Array<DuckDBValue | undefined>(plan.fields.length);
  const lists = new Map<number, DuckDBValue[]>();
  while (reader.pos < end) {
    const tag = reader.uint32();
    const column = plan.columns.get(tag >>> 3);
    if (!column) {
      reader.skipType(tag & 7);
      continue;
    }
    if (!column.repeated) {
      values[column.index] = value(column, reader);
      continue;
    }
    const list = lists.get(column.index) ?? [];
    lists.set(column.index, list);
    if ((tag & 7) === DELIMITED && !UNPACKABLE.includes(column.wire)) {
      const packedEnd = reader.uint32() + reader.pos;
      while (reader.pos < packedEnd) list.push(value(column, reader));
    } else list.push(value(column, reader));
  }
  for (const [index, list] of lists) values[index] = listValue(list);
  return plan.fields.map((field, index) => values[index] ?? absent(field, plan.prefix + field.name));
}

function value(column: ColumnPlan, reader: Reader): DuckDBValue {
  const { field, path, wire } = column;
  if (column.message) {
    const fields = column.message.fields;
    const values = message(column.message, reader, reader.uint32() + reader.pos);
    return structValue(Object.fromEntries(fields.map((inner, index) => [inner.name, values[index] ?? null])));
  }
  const raw = scalar(wire, reader);
  if (typeof raw === 'string') {
    if (field.type === 'BYTES') return blobValue(Buffer.from(raw));
    return fromText(field.type, raw, path) ?? null;
  }
  if (raw instanceof Uint8Array) return blobValue(raw);
  if (typeof raw === 'bigint') {
    return field.type === 'TIMESTAMP' ? timestamp(raw, path, raw) : integer(raw, path);
  }
  if (typeof raw === 'number' && field.type === 'DATE') return date(raw, path, raw);
  return typeof raw === 'number' && field.type === 'INTEGER' ? BigInt(raw) : raw;
}

function scalar(wire: string, reader: Reader): string | number | bigint | boolean | Uint8Array {
  switch (wire) {
    case 'TYPE_STRING':
      return utf8.decode(reader.bytes());
    case 'TYPE_BYTES':
      return Buffer.from(reader.bytes());
    case 'TYPE_BOOL':
      return reader.bool();
    case 'TYPE_DOUBLE':
      return reader.double();
    case 'TYPE_FLOAT':
      return reader.float();
    case 'TYPE_INT32':
    case 'TYPE_ENUM':
      return reader.int32();
    case 'TYPE_UINT32':
      return reader.uint32();
    case 'TYPE_SINT32':
      return reader.sint32();
    case 'TYPE_FIXED32':
      return reader.fixed32();
    case 'TYPE_SFIXED32':
      return reader.sfixed32();
    case 'TYPE_INT64':
      return long(reader.int64(), true);
    case 'TYPE_SINT64':
      return long(reader.sint64(), true);
    case 'TYPE_SFIXED64':
      return long(reader.sfixed64(), true);
    case 'TYPE_UINT64':
      return long(reader.uint64(), false);
    case 'TYPE_FIXED64':
      return long(reader.fixed64(), false);
    default:
      throw new Error(`unsupported wire type ${wire}`);
  }
}

/** The reader gives 64-bit numbers as two halves, or as a plain number where no Long class is about. */
function long(value: number | { low: number; high: number }, signed: boolean): bigint {
  if (typeof value === 'number') return BigInt(value);
  const bits = (BigInt(value.high >>> 0) << 32n) | BigInt(value.low >>> 0);
  return signed ? BigInt.asIntN(64, bits) : bits;
}
