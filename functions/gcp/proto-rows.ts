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

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;

class Writer {
  #bytes = Buffer.allocUnsafe(256);
  #at = 0;

  #reserve(count: number): void {
    if (this.#at + count <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + count));
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }

  tag(field: number, wire: number): void {
    this.varint(field * 8 + wire);
  }

  /** A safe integer; a negative one in the two's complement of 64 bits. */
  varint(value: number): void {
    this.#reserve(10);
    if (value < 0) {
      let rest = BigInt.asUintN(64, BigInt(value));
      for (; rest >= 128n; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 127n) | 128;
      this.#bytes[this.#at++] = Number(rest);
      return;
    }
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[this.#at++] = (rest % 128) | 128;
    this.#bytes[this.#at++] = rest;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.varint(length);
    this.#reserve(length);
    this.#at += this.#bytes.write(value, this.#at);
  }

  bytes(value: Uint8Array): void {
    this.varint(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }
}

/** One row; fields are numbered by the columns' order from 1, a null is left out. */
export function encodeRow(columns: readonly Column[], row: object): Buffer {
  const writer = new Writer();
  const cells = row as Readonly<Record<string, Cell | undefined>>;
  columns.forEach((column, index) => {
    const value = cells[column.name];
    if (value === null || value === undefined) return;
    if (column.mode !== 'REPEATED') encodeCell(writer, column, index + 1, value);
    else for (const element of value as readonly Cell[]) encodeCell(writer, column, index + 1, element);
  });
  return writer.finish();
}

function encodeCell(writer: Writer, column: Column, field: number, value: Cell): void {
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
