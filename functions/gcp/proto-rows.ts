import { DELIMITED, FIXED64, ProtoWriter, VARINT } from './proto-writer.ts';

/**
 * Rows as protocol buffer messages, for the column types that our tables have. The client library's own encoder copies
 * every row deeply first; this one writes it once.
 */

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly mode: string;
  readonly fields?: readonly Column[];
}

type Cell = string | number | boolean | null | readonly object[];

/** One row; fields are numbered by the columns' order from 1, a null is left out. */
export function encodeRow(columns: readonly Column[], row: object): Buffer {
  const writer = new ProtoWriter();
  const cells = row as Readonly<Record<string, Cell | undefined>>;
  columns.forEach((column, index) => {
    const value = cells[column.name];
    if (value === null || value === undefined) return;
    if (column.mode !== 'REPEATED') encodeCell(writer, column, index + 1, value);
    else for (const element of value as readonly Cell[]) encodeCell(writer, column, index + 1, element);
  });
  return writer.finish();
}

function encodeCell(writer: ProtoWriter, column: Column, field: number, value: Cell): void {
  switch (column.type) {
    case 'STRING':
      writer.tag(field, DELIMITED);
      writer.text(value as string);
      break;
    case 'INTEGER':
    case 'TIMESTAMP':
    case 'BOOLEAN':
      writer.tag(field, VARINT);
      writer.varint(Number(value));
      break;
    case 'FLOAT':
      writer.tag(field, FIXED64);
      writer.double(value as number);
      break;
    case 'RECORD':
      writer.tag(field, DELIMITED);
      writer.bytes(encodeRow(column.fields ?? [], value as unknown as object));
      break;
    default:
      throw new TypeError(`no encoding for a column of type ${column.type}`);
  }
}
