import {
  closeSync,
  existsSync,
  ftruncateSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

/** Bytes from which on a journal is worth rewriting. */
const WORTH_COMPACTING = 64 * 1024 * 1024;

/**
 * Append-only file of JSON lines. A written record has reached the operating system: it survives the end of the
 * process, not a loss of power. Deferred records go out with the next written one or at the end of the turn.
 */
export class JsonJournal<T> {
  readonly #file: string;
  #fd: number | undefined;
  #size = 0;
  #compacted = 0;
  #deferred: string[] = [];

  constructor(dir: string, name: string) {
    mkdirSync(dir, { recursive: true });
    this.#file = path.join(dir, name);
  }

  /** Hands over every record. A last line without an end was never acknowledged and is left out. */
  replay(apply: (record: T) => void): void {
    if (!existsSync(this.#file)) return;
    const data = readFileSync(this.#file);
    for (let at = 0; at < data.length;) {
      const end = data.indexOf(10, at);
      if (end < 0) return;
      apply(JSON.parse(data.toString('utf8', at, end)) as T);
      at = end + 1;
    }
  }

  /** Starts the file anew with only these records, and keeps it open for appending. */
  compact(records: Iterable<T>): void {
    this.#deferred = [];
    const fresh = `${this.#file}.new`;
    const fd = openSync(fresh, 'w');
    for (const record of records) writeAll(fd, Buffer.from(JSON.stringify(record) + '\n'));
    closeSync(fd);
    renameSync(fresh, this.#file);
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = openSync(this.#file, 'a');
    this.#size = this.#compacted = fstatSync(this.#fd).size;
  }

  /** Writes a record before it returns. */
  write(record: T): void {
    if (this.#fd === undefined) throw new Error('the journal is closed');
    const data = Buffer.from(this.#takeDeferred() + JSON.stringify(record) + '\n');
    try {
      writeAll(this.#fd, data);
      this.#size += data.length;
    } catch (error) {
      // Half a line would spoil every later one.
      ftruncateSync(this.#fd, this.#size);
      throw error;
    }
  }

  /** Writes a record soon: for what a crash may undo. */
  defer(record: T): void {
    if (this.#deferred.push(JSON.stringify(record) + '\n') === 1) setImmediate(() => this.#flush());
  }

  /** True when most of the file is history. */
  get grown(): boolean {
    return this.#size > WORTH_COMPACTING && this.#size > 4 * this.#compacted;
  }

  close(): void {
    this.#flush();
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #takeDeferred(): string {
    const text = this.#deferred.join('');
    this.#deferred = [];
    return text;
  }

  #flush(): void {
    if (this.#fd === undefined || this.#deferred.length === 0) return;
    const data = Buffer.from(this.#takeDeferred());
    writeAll(this.#fd, data);
    this.#size += data.length;
  }
}

function writeAll(fd: number, data: Buffer): void {
  for (let done = 0; done < data.length;) done += writeSync(fd, data, done);
}
