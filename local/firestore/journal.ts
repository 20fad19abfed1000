import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import type { Changes } from './database.ts';
import type { StoredDocument } from './collection.ts';
import { toMicros } from './values.ts';
import type { Document } from './wire.ts';

/** To and from the bytes of a google.firestore.v1.Document. */
export interface Codec {
  encode(document: Document): Buffer;
  decode(bytes: Buffer): Document;
}

/** One change read back: a document, or the name of one that was deleted. */
export type Replay = (name: string, document: StoredDocument | undefined) => void;

const PUT = 1;
const DELETE = 2;
const HEADER = 8;

/**
 * Append-only file of commits. A frame is a length, a CRC-32 and the body: the commit time (double), then per
 * change a kind, a length and a document or a name. A commit is one frame, so it is there whole or not at all.
 * A write reaches the operating system before the commit is acknowledged: it survives the end of the process,
 * not a loss of power.
 */
export class Journal {
  readonly #file: string;
  readonly #codec: Codec;
  #fd: number | undefined;
  #size = 0;

  constructor(dir: string, codec: Codec) {
    mkdirSync(dir, { recursive: true });
    this.#file = path.join(dir, 'firestore.journal');
    this.#codec = codec;
  }

  /** Hands over what the journal holds; returns the time of its last commit (0 when empty). */
  replay(apply: Replay): number {
    if (!existsSync(this.#file)) return 0;
    const data = readFileSync(this.#file);
    let last = 0;
    for (let at = 0; at + HEADER <= data.length;) {
      const length = data.readUInt32LE(at);
      const body = data.subarray(at + HEADER, at + HEADER + length);
      // A torn frame is a commit that was never acknowledged.
      if (body.length < length || crc32(body) !== data.readUInt32LE(at + 4)) break;
      last = Math.max(last, body.readDoubleLE(0));
      this.#replayFrame(body, apply);
      at += HEADER + length;
    }
    return last;
  }

  /** Starts the journal anew with only the present documents, then keeps it open for appending. */
  compact(documents: Iterable<StoredDocument>, lastCommit: number): void {
    const fresh = `${this.#file}.new`;
    const fd = openSync(fresh, 'w');
    let batch = new Map<string, StoredDocument | undefined>();
    for (const document of documents) {
      batch.set(document.name, document);
      if (batch.size < 1000) continue;
      writeAll(fd, this.#frame(batch, lastCommit));
      batch = new Map();
    }
    writeAll(fd, this.#frame(batch, lastCommit));
    fsyncSync(fd);
    closeSync(fd);
    renameSync(fresh, this.#file);
    this.#fd = openSync(this.#file, 'a');
    this.#size = fstatSync(this.#fd).size;
  }

  append(changes: Changes, commitTime: number): void {
    if (this.#fd === undefined) throw new Error('the journal is closed');
    const frame = this.#frame(changes, commitTime);
    try {
      writeAll(this.#fd, frame);
      this.#size += frame.length;
    } catch (error) {
      // A torn frame would hide every later one.
      ftruncateSync(this.#fd, this.#size);
      throw error;
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #frame(changes: Changes, commitTime: number): Buffer {
    const head = Buffer.alloc(HEADER + 8);
    head.writeDoubleLE(commitTime, HEADER);
    const parts: Uint8Array[] = [head];
    for (const [name, document] of changes) {
      const bytes: Uint8Array = document ? this.#codec.encode(document) : Buffer.from(name);
      const prefix = Buffer.alloc(5);
      prefix.writeUInt8(document ? PUT : DELETE, 0);
      prefix.writeUInt32LE(bytes.length, 1);
      parts.push(prefix, bytes);
    }
    const frame = Buffer.concat(parts);
    frame.writeUInt32LE(frame.length - HEADER, 0);
    frame.writeUInt32LE(crc32(frame.subarray(HEADER)), 4);
    return frame;
  }

  #replayFrame(body: Buffer, apply: Replay): void {
    for (let at = 8; at < body.length;) {
      const kind = body.readUInt8(at);
      const length = body.readUInt32LE(at + 1);
      const bytes = body.subarray(at + 5, at + 5 + length);
      at += 5 + length;
      if (kind === DELETE) {
        apply(bytes.toString(), undefined);
        continue;
      }
      const document = this.#codec.decode(bytes);
      apply(document.name, { ...document, version: toMicros(document.updateTime) });
    }
  }
}

function writeAll(fd: number, data: Buffer): void {
  for (let done = 0; done < data.length;) done += writeSync(fd, data, done);
}
