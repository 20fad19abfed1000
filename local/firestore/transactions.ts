import { randomBytes } from 'node:crypto';
import type { CommitClock } from './clock.ts';
import type { Collection, StoredDocument } from './collection.ts';
import type { Database } from './database.ts';
import { aborted, invalid, transactionExpired } from './errors.ts';
import { execute, type Results } from './execute.ts';
import { inScope, type Query } from './query.ts';

/** Microseconds. */
const MAX_AGE = 270e6;
const MAX_IDLE = 60e6;

export interface Transaction {
  readonly id: Buffer;
  readonly readOnly: boolean;
  readonly begun: number;
  used: number;
  readonly reads: Set<string>;
  readonly queries: { readonly query: Query; readonly seen: string }[];
}

/**
 * Transactions of one database. They are optimistic: a transaction sees the state at its first read, and its
 * commit fails with ABORTED when a document that it read, or the result of a query that it ran, has changed.
 */
export class Transactions {
  readonly #database: Database;
  readonly #clock: CommitClock;
  readonly #active = new Map<string, Transaction>();

  constructor(database: Database, clock: CommitClock) {
    this.#database = database;
    this.#clock = clock;
  }

  get active(): number {
    return this.#active.size;
  }

  begin(readOnly: boolean): Transaction {
    const now = this.#clock.wall();
    for (const old of this.#active.values()) {
      if (this.#expired(old, now)) this.end(old);
    }
    const transaction = { id: randomBytes(12), readOnly, begun: now, used: now, reads: new Set<string>(), queries: [] };
    this.#active.set(transaction.id.toString('hex'), transaction);
    return transaction;
  }

  /** Throws INVALID_ARGUMENT when the transaction is unknown, has ended or has expired. */
  get(id: Buffer): Transaction {
    const transaction = this.#active.get(id.toString('hex'));
    const now = this.#clock.wall();
    if (transaction && this.#expired(transaction, now)) this.end(transaction);
    else if (transaction) {
      transaction.used = now;
      return transaction;
    }
    throw transactionExpired();
  }

  end(transaction: Transaction): void {
    this.#active.delete(transaction.id.toString('hex'));
    this.#database.history.close(transaction);
  }

  read(transaction: Transaction | undefined, name: string): StoredDocument | undefined {
    if (!transaction) return this.#database.get(name);
    this.#database.history.open(transaction);
    transaction.reads.add(name);
    const before = this.#database.history.before(transaction, name);
    return before.changed ? before.document : this.#database.get(name);
  }

  query(transaction: Transaction | undefined, query: Query): Results {
    if (!transaction) return this.#database.query(query);
    this.#database.history.open(transaction);
    const changed = this.#changedIn(transaction, query);
    const results =
      changed.size === 0 ? this.#database.query(query) : execute(query, past(this.#database.source(query), changed));
    transaction.queries.push({ query, seen: fingerprint(results) });
    return results;
  }

  /** Throws ABORTED unless everything that the transaction read is as it was. */
  validate(transaction: Transaction, hasWrites: boolean): void {
    if (transaction.readOnly) {
      if (hasWrites) throw invalid('Cannot modify entities in a read-only transaction.');
      return;
    }
    for (const name of transaction.reads) {
      if (this.#database.history.before(transaction, name).changed) throw aborted();
    }
    for (const { query, seen } of transaction.queries) {
      const { matches } = query.filter;
      const relevant = [...this.#changedIn(transaction, query)].some(([name, before]) => {
        const now = this.#database.get(name);
        return (before && matches(before)) || (now && matches(now));
      });
      if (relevant && fingerprint(this.#database.query(query)) !== seen) throw aborted();
    }
  }

  #changedIn(transaction: Transaction, query: Query): Map<string, StoredDocument | undefined> {
    const changed = this.#database.history.since(transaction);
    for (const name of changed.keys()) if (!inScope(query, name)) changed.delete(name);
    return changed;
  }

  #expired(transaction: Transaction, now: number): boolean {
    return now - transaction.begun > MAX_AGE || now - transaction.used > MAX_IDLE;
  }
}

function* past(
  source: Collection | Iterable<StoredDocument>,
  changed: ReadonlyMap<string, StoredDocument | undefined>,
): Generator<StoredDocument> {
  for (const document of Symbol.iterator in source ? source : source.documents.values()) {
    if (!changed.has(document.name)) yield document;
  }
  for (const document of changed.values()) if (document) yield document;
}

const fingerprint = ({ documents }: Results): string =>
  documents.map(({ name, version }) => `${name}@${version}`).join('\n');
