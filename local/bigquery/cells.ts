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
import type { Field } from './sql/types.ts';

/** A value as the REST API gives it; TIMESTAMP as int64 microseconds. */
export type Cell = string | null | { readonly v: Cell }[] | { readonly f: { readonly v: Cell }[] };

/** One row of a DuckDB result. */
export function toCells(fields: readonly Field[], row: readonly DuckDBValue[]): Cell[] {
  return fields.map((field, index) => toCell(field, row[index] ?? null));
}

function toCell(field: Field, value: DuckDBValue): Cell {
  if (field.mode !== 'REPEATED') return value === null ? null : scalar(field, value);
  if (value === null) return [];
  if (!(value instanceof DuckDBListValue)) throw new Error(`${field.name}: a list is expected`);
  return value.items.map((item) => ({ v: item === null ? null : scalar(field, item) }));
}

function scalar(field: Field, value: DuckDBValue): Cell {
  if (field.type === 'RECORD') {
    if (!(value instanceof DuckDBStructValue)) throw new Error(`${field.name}: a struct is expected`);
    const inner = Object.values(value.entries);
    return { f: toCells(field.fields ?? [], inner).map((v) => ({ v })) };
  }
  if (value instanceof DuckDBTimestampTZValue) return String(value.micros);
  if (value instanceof DuckDBTimestampValue) {
    return field.type === 'TIMESTAMP' ? String(value.micros) : trimFraction(value.toString()).replace(' ', 'T');
  }
  if (value instanceof DuckDBTimeValue) return trimFraction(value.toString());
  if (value instanceof DuckDBDateValue) return value.toString();
  if (value instanceof DuckDBBlobValue) return Buffer.from(value.bytes).toString('base64');
  if (value instanceof DuckDBDecimalValue) return trimDecimal(value.toString());
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return field.type === 'FLOAT' ? floatText(value) : String(value);
  throw new Error(`${field.name}: a value of type ${field.type} has no text form`);
}

/** BigQuery prints whole FLOAT64 values with a fraction. */
function floatText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text.replace('e', 'E');
}

function trimDecimal(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function trimFraction(text: string): string {
  return text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

/** The same row with TIMESTAMP as seconds, which is how the API gives it unless int64 is asked for. */
export function withFloatTimestamps(fields: readonly Field[], cells: readonly Cell[]): Cell[] {
  const one = (field: Field, cell: Cell): Cell => {
    if (cell === null) return null;
    if (Array.isArray(cell)) return cell.map((item) => ({ v: one({ ...field, mode: 'NULLABLE' }, item.v) }));
    if (typeof cell === 'object') {
      const inner = cell.f.map((member) => member.v);
      return { f: withFloatTimestamps(field.fields ?? [], inner).map((v) => ({ v })) };
    }
    if (field.type !== 'TIMESTAMP') return cell;
    const digits = cell.replace('-', '').padStart(7, '0');
    return `${cell.startsWith('-') ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
  };
  return fields.map((field, index) => one(field, cells[index] ?? null));
}

/** The same row as a plain object: see `BigQueryServer.query`. */
export function toObject(fields: readonly Field[], cells: readonly Cell[]): Record<string, unknown> {
  const one = (field: Field, cell: Cell): unknown => {
    if (cell === null) return null;
    if (Array.isArray(cell)) return cell.map((item) => one({ ...field, mode: 'NULLABLE' }, item.v));
    if (typeof cell === 'object')
      return toObject(
        field.fields ?? [],
        cell.f.map((member) => member.v),
      );
    if (field.type === 'INTEGER' || field.type === 'FLOAT' || field.type === 'TIMESTAMP') return Number(cell);
    if (field.type === 'BOOLEAN') return cell === 'true';
    return field.type === 'BYTES' ? Buffer.from(cell, 'base64') : cell;
  };
  return Object.fromEntries(fields.map((field, index) => [field.name, one(field, cells[index] ?? null)]));
}
