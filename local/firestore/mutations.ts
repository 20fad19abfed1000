import { randomBytes } from 'node:crypto';
import { StatusError } from '../shared/faults.ts';
import type { Meter } from '../shared/meter.ts';
import type { Databases, Space } from './databases.ts';
import { invalid } from './errors.ts';
import { databaseOf } from './paths.ts';
import { beginTransaction, masked } from './reads.ts';
import type * as Request from './requests.ts';
import { fromMicros } from './values.ts';
import { targetOf } from './writes.ts';
import type { Document, Timestamp, Write, WriteResult } from './wire.ts';

const MAX_COMMIT_BYTES = 10 * 1024 * 1024;
const MAX_BATCH_WRITE = 500;

/** Reports the encoded size of a request in bytes. */
export type SizeOf = (request: object) => number;

/** The calls that write. */
export class Mutations {
  readonly #databases: Databases;
  readonly #meter: Meter;
  readonly #sizeOf: SizeOf;
  constructor(databases: Databases, meter: Meter, sizeOf: SizeOf) {
    this.#databases = databases;
    this.#meter = meter;
    this.#sizeOf = sizeOf;
  }

  beginTransaction(request: Request.BeginTransaction): { transaction: Buffer } {
    return { transaction: beginTransaction(this.#databases.get(request.database), request.options).id };
  }

  /** Ends a transaction; one that is over already is no error. */
  rollback(request: Request.Rollback): object {
    const { transactions } = this.#databases.get(request.database);
    try {
      transactions.end(transactions.get(request.transaction));
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
    }
    return {};
  }

  commit(request: Request.Commit): { writeResults: WriteResult[]; commitTime: Timestamp } {
    this.#checkSize(request);
    const space = this.#databases.get(request.database);
    if (request.transaction.length === 0) return this.#commit(space, request.writes);
    const transaction = space.transactions.get(request.transaction);
    try {
      space.transactions.validate(transaction, request.writes.length > 0);
      return this.#commit(space, request.writes);
    } finally {
      space.transactions.end(transaction);
    }
  }

  /** Every write on its own; not atomic. */
  batchWrite(request: Request.Commit): { writeResults: WriteResult[]; status: { code: number; message: string }[] } {
    this.#checkSize(request);
    const space = this.#databases.get(request.database);
    if (request.writes.length > MAX_BATCH_WRITE) throw invalid(`BatchWrite takes at most ${MAX_BATCH_WRITE} writes.`);
    const names = new Set(request.writes.map(targetOf));
    if (names.size < request.writes.length) throw invalid('BatchWrite cannot write one document twice.');
    const writeResults: WriteResult[] = [];
    const status = request.writes.map((write) => {
      try {
        writeResults.push(this.#commit(space, [write]).writeResults[0]!);
        return { code: 0, message: '' };
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        writeResults.push({});
        return { code: error.code, message: error.details };
      }
    });
    return { writeResults, status };
  }

  createDocument(request: Request.CreateDocument): Document {
    const id = request.documentId || randomBytes(10).toString('hex');
    const name = `${request.parent}/${request.collectionId}/${id}`;
    const update = { name, fields: request.document?.fields ?? {} };
    return masked(this.#one({ operation: 'update', update, currentDocument: { exists: false } }), request.mask);
  }

  updateDocument(request: Request.UpdateDocument): Document {
    if (!request.document) throw invalid('The request has no document.');
    const { document, updateMask, currentDocument } = request;
    return masked(this.#one({ operation: 'update', update: document, updateMask, currentDocument }), request.mask);
  }

  deleteDocument(request: Request.DeleteDocument): object {
    const { name, currentDocument } = request;
    this.#commit(this.#databases.get(databaseOf(name)), [{ operation: 'delete', delete: name, currentDocument }]);
    return {};
  }

  #one(write: Write): Document {
    const name = targetOf(write);
    const space = this.#databases.get(databaseOf(name));
    this.#commit(space, [write]);
    return space.database.get(name)!;
  }

  #commit({ database }: Space, writes: readonly Write[]): { writeResults: WriteResult[]; commitTime: Timestamp } {
    const { applied, time } = database.commit(writes);
    for (const { document, size } of applied) {
      this.#meter.add(document ? 'firestore.writes' : 'firestore.deletes');
      this.#meter.add('firestore.bytes', size);
    }
    return { writeResults: applied.map(({ result }) => result), commitTime: fromMicros(time) };
  }

  #checkSize(request: object): void {
    if (this.#sizeOf(request) <= MAX_COMMIT_BYTES) return;
    throw invalid(`Request payload size exceeds the limit: ${MAX_COMMIT_BYTES} bytes.`);
  }
}
