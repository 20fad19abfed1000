import { TransientError } from '../../functions/core/errors.ts';
import { compareText } from '../../functions/core/sequence/order.ts';
import type { Document, DueQuery, Store, Transaction } from '../../functions/ports.ts';
import { OPEN, through, type Gate } from './gate.ts';

interface Versioned {
  readonly document: Document | null;
  readonly version: number;
}

const ABSENT: Versioned = { document: null, version: 0 };

/** What one commit changed; null = deleted. */
export type Changes = ReadonlyMap<string, Document | null>;

/**
 * Documents in memory, shared by all instances, with the semantics of Firestore's optimistic transactions: a commit
 * fails when anything that it read has changed. Calls at the gate: `get` and `commit` of a transaction, `read` and `due`
 * outside; the resource is the paths, separated by spaces.
 */
export class FakeStore {
  readonly #documents = new Map<string, Versioned>();
  #commits = 0;
  /** Called after each commit that wrote something. */
  onCommit: (changes: Changes) => void = () => undefined;

  #at(path: string): Versioned {
    return this.#documents.get(path) ?? ABSENT;
  }

  #commit(reads: ReadonlyMap<string, number>, writes: Changes): void {
    for (const [path, version] of reads) {
      if (this.#at(path).version !== version) throw contention(path);
    }
    if (writes.size === 0) return;
    for (const [path, document] of writes) check(path, document);
    this.#commits++;
    for (const [path, document] of writes) this.#documents.set(path, { document, version: this.#commits });
    this.onCommit(writes);
  }

  /** A copy of one document. */
  read(path: string): Document | null {
    return structuredClone(this.#at(path).document);
  }

  /** Every document now, by path, in the order of the paths. */
  dump(): ReadonlyMap<string, Document> {
    const present = [...this.#documents].flatMap(([path, { document }]) =>
      document === null ? [] : [[path, document] as const],
    );
    return new Map(present.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  due({ collection, shard, before, limit, after }: DueQuery): { path: string; document: Document }[] {
    const isLater = (path: string, wakeAt: number) =>
      after === undefined || wakeAt > after.wakeAt || (wakeAt === after.wakeAt && compareText(path, after.path) > 0);
    return [...this.dump()]
      .flatMap(([path, document]) => {
        const { wake_at: wakeAt } = document;
        const inCollection = path.slice(0, path.lastIndexOf('/')) === collection && document['shard'] === shard;
        const found = inCollection && typeof wakeAt === 'number' && wakeAt <= before && isLater(path, wakeAt);
        return found ? [{ path, wakeAt, document }] : [];
      })
      .sort((a, b) => a.wakeAt - b.wakeAt || compareText(a.path, b.path))
      .slice(0, limit)
      .map(({ path, document }) => ({ path, document: structuredClone(document) }));
  }

  #waiting(collection: string): number {
    const isInside = (path: string) => path.slice(0, path.lastIndexOf('/')) === collection;
    return [...this.dump()].filter(([path, { wake_at: at }]) => isInside(path) && typeof at === 'number').length;
  }

  /** Deletes the documents whose `expire_at` is not after `now`, as a TTL policy would; returns how many. */
  expire(now: number): number {
    const expired = [...this.dump()].filter(([, { expire_at: at }]) => typeof at === 'number' && at <= now);
    this.#commit(new Map(), new Map(expired.map(([path]) => [path, null])));
    return expired.length;
  }

  /** The port of one instance. */
  port(gate: Gate = OPEN): Store {
    const call = <T>(method: string, paths: readonly string[], effect: () => T): Promise<T> =>
      through(gate, { port: 'store', method, resource: paths.join(' ') }, effect);
    return {
      transaction: async (work) => {
        const reads = new Map<string, number>();
        const writes = new Map<string, Document | null>();
        const get = (path: string): Document | null => {
          checkPath(path);
          const { document, version } = this.#at(path);
          if ((reads.get(path) ?? version) !== version) throw contention(path);
          reads.set(path, version);
          return structuredClone(document);
        };
        const tx: Transaction = {
          async get(paths) {
            if (writes.size > 0) throw new Error('a transaction reads before it writes');
            return call('get', paths, () => paths.map(get));
          },
          set: (path, document) => void writes.set(path, storable(document)),
          delete: (path) => void writes.set(path, null),
        };
        const result = await work(tx);
        await call('commit', [...writes.keys()], () => this.#commit(reads, writes));
        return result;
      },
      get: async (path) =>
        call('read', [path], () => {
          checkPath(path);
          return this.read(path);
        }),
      due: async (query) => call('due', [query.collection], () => this.due(query)),
      // Only for a log line, so no fate is simulated for it.
      waiting: (collection, atMost) => Promise.resolve(Math.min(this.#waiting(collection), atMost)),
    };
  }
}

function contention(path: string): TransientError {
  return new TransientError('contention', `${path} was changed meanwhile`);
}

/** What Firestore answers to an illegal request: the adapter takes every such answer for one that may change. */
function refused(message: string): TransientError {
  return new TransientError('unavailable', message);
}

function checkPath(path: string): void {
  const parts = path.split('/');
  const legal = (part: string) =>
    part !== '' && part !== '.' && part !== '..' && !/^__.*__$/.test(part) && Buffer.byteLength(part) <= 1500;
  if (parts.length % 2 !== 0 || !parts.every(legal)) throw refused(`illegal document path ${path}`);
}

const LARGEST_DOCUMENT = 1_048_576;

function check(path: string, document: Document | null): void {
  checkPath(path);
  const size = documentSize(path, document ?? {});
  if (size > LARGEST_DOCUMENT) throw refused(`the document has ${size} bytes, more than a document can hold`);
}

/** A copy, as storing makes one. */
function storable(document: Document): Document {
  sizeOf(document);
  return structuredClone(document);
}

/** Bytes of a document by the rules that Firestore publishes. */
function documentSize(path: string, document: Document): number {
  return path.split('/').reduce((sum, id) => sum + Buffer.byteLength(id) + 1, 16) + sizeOf(document);
}

/** Bytes of a document without its name, or of one value. @throws Error for undefined */
export function sizeOf(value: unknown): number {
  if (value === undefined) throw new Error('undefined cannot be stored');
  if (value === null || typeof value === 'boolean') return 1;
  if (typeof value === 'string') return Buffer.byteLength(value) + 1;
  if (value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item), 0);
  if (typeof value !== 'object') return 8;
  return Object.entries(value).reduce((sum, [name, item]) => sum + Buffer.byteLength(name) + 1 + sizeOf(item), 32);
}
