/** Wire types. */
export const VARINT = 0;
export const FIXED64 = 1;
export const DELIMITED = 2;

/** Writes one message of the protocol buffer format into `bytes`, and into larger ones when they are full. */
export class ProtoWriter {
  /** Bytes to give beyond those of the message, so that no larger ones are needed. */
  static readonly SLACK = 10;
  #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer = Buffer.allocUnsafe(256)) {
    this.#bytes = bytes;
  }

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
    this.#reserve(ProtoWriter.SLACK);
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
