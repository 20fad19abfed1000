/** Appends values to a growing byte string. */
export class Writer {
  #bytes = Buffer.allocUnsafe(256);
  #length = 0;

  #room(size: number): number {
    const at = this.#length;
    this.#length += size;
    if (this.#length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.#length, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, at);
      this.#bytes = grown;
    }
    return at;
  }

  byte(value: number): void {
    const at = this.#room(1);
    this.#bytes[at] = value;
  }

  /** A safe integer from 0, seven bits a byte. */
  count(value: number): void {
    while (value >= 128) {
      this.byte((value % 128) + 128);
      value = Math.floor(value / 128);
    }
    this.byte(value);
  }

  /** Any safe integer: its magnitude, with the sign in a byte of its own when there is one. */
  integer(value: number): void {
    this.byte(value < 0 ? 1 : 0);
    this.count(Math.abs(value));
  }

  flag(value: boolean): void {
    this.byte(value ? 1 : 0);
  }

  bytes(value: Uint8Array): void {
    this.count(value.length);
    const at = this.#room(value.length);
    this.#bytes.set(value, at);
  }

  text(value: string): void {
    const size = Buffer.byteLength(value);
    this.count(size);
    const at = this.#room(size);
    this.#bytes.write(value, at);
  }

  big(value: bigint): void {
    this.flag(value < 0n);
    const hex = (value < 0n ? -value : value).toString(16);
    this.bytes(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex'));
  }

  optional<T>(value: T | null, write: (value: T) => void): void {
    this.flag(value !== null);
    if (value !== null) write(value);
  }

  list<T>(values: readonly T[], write: (value: T) => void): void {
    this.count(values.length);
    for (const value of values) write(value);
  }

  get length(): number {
    return this.#length;
  }

  done(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#length));
  }
}

/** Reads what a Writer wrote. @throws RangeError at the end of the bytes */
export class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get ended(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** @throws RangeError when bytes are left */
  end(): void {
    if (!this.ended) throw new RangeError('there are bytes left');
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#at++);
  }

  count(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  integer(): number {
    const negative = this.flag();
    const magnitude = this.count();
    return negative ? -magnitude : magnitude;
  }

  flag(): boolean {
    return this.byte() !== 0;
  }

  #slice(): Buffer {
    const size = this.count();
    if (this.#at + size > this.#bytes.length) throw new RangeError('the bytes end too early');
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.#slice());
  }

  text(): string {
    return this.#slice().toString();
  }

  big(): bigint {
    const negative = this.flag();
    const magnitude = BigInt(`0x${this.#slice().toString('hex')}`);
    return negative ? -magnitude : magnitude;
  }

  optional<T>(read: () => T): T | null {
    return this.flag() ? read() : null;
  }

  list<T>(read: () => T): T[] {
    return Array.from({ length: this.count() }, read);
  }
}
