import { TransientError } from '../../functions/core/errors.ts';
import type { Document, Store, Transaction } from '../../functions/ports.ts';

/** One call of the store, as a hook sees it. `commit` is the end of a transaction that wrote or read something. */
export interface StoreCall {
  readonly operation: 'get' | 'read' | 'commit' | 'due';
  readonly paths: readonly string[];
}

/**
 * Called around the effect of every call; what it throws is what the caller sees. Thrown `before`: the effect did not
 * happen. Thrown `after`: it did, and the answer is lost. It may also wait, and so reorder concurrent transactions.
 */
export type StoreHook = (call: StoreCall, when: 'before' | 'after') => void | Promise<void>;

export interface FakeStore extends Store {
  /** Every document now, by path, in the order of the paths. */
  dump(): ReadonlyMap<string, Document>;
  /** Called after each commit with what it changed (null = deleted). */
  onCommit(listener: (changed: ReadonlyMap<string, Document | null>) => void): void;
  /** Deletes the documents whose `expire_at` is not after `now`, as a TTL policy would. */
  expire(now: number): number;
}

interface Versioned {
  readonly document: Document | null;
  readonly version: number;
}

const ABSENT: Versioned = { document: null, version: 0 };

/** In memory, with the semantics of Firestore's optimistic transactions: a commit fails when what it read has changed. */
export function fakeStore(hook: StoreHook = () => undefined): FakeStore {
  const documents = new Map<string, Versioned>();
  const listeners: ((changed: ReadonlyMap<string, Document | null>) => void)[] = [];
  let commits = 0;
  const at = (path: string): Versioned => documents.get(path) ?? ABSENT;

  async function call<T>(operation: StoreCall['operation'], paths: readonly string[], effect: () => T): Promise<T> {
    await hook({ operation, paths }, 'before');
    const result = effect();
    await hook({ operation, paths }, 'after');
    return result;
  }

  function commit(reads: ReadonlyMap<string, number>, writes: ReadonlyMap<string, Document | null>): void {
    for (const [path, version] of reads) {
      if (at(path).version !== version) throw new TransientError('contention', `${path} was changed meanwhile`);
    }
    if (writes.size === 0) return;
    commits++;
    for (const [path, document] of writes) documents.set(path, { document, version: commits });
    for (const listener of listeners) listener(writes);
  }

  return {
    async transaction(work) {
      const reads = new Map<string, number>();
      const writes = new Map<string, Document | null>();
      const tx: Transaction = {
        async get(paths) {
          if (writes.size > 0) throw new Error('a transaction reads before it writes');
          return call('get', paths, () =>
            paths.map((path) => {
              const { document, version } = at(path);
              // Like a snapshot: what was read once is not read newer.
              if (reads.has(path) && reads.get(path) !== version) {
                throw new TransientError('contention', `${path} was changed meanwhile`);
              }
              reads.set(path, version);
              return document === null ? null : structuredClone(document);
            }),
          );
        },
        set: (path, document) => void writes.set(checkPath(path), checkDocument(document)),
        delete: (path) => void writes.set(checkPath(path), null),
      };
      const result = await work(tx);
      await call('commit', [...writes.keys()], () => commit(reads, writes));
      return result;
    },

    get: (path) => call('read', [path], () => structuredClone(at(path).document)),

    due: ({ collection, shard, before, limit, after }) =>
      call('due', [collection], () => {
        const found = [...documents].flatMap(([path, { document }]) => {
          const wakeAt = document?.['wake_at'];
          if (document === null || typeof wakeAt !== 'number' || wakeAt > before) return [];
          if (document['shard'] !== shard || path.split('/').slice(0, -1).join('/') !== collection) return [];
          return [{ path, wakeAt, document }];
        });
        return found
          .sort((a, b) => a.wakeAt - b.wakeAt || (a.path < b.path ? -1 : 1))
          .filter((one) => {
            if (after === undefined) return true;
            return one.wakeAt === after.wakeAt ? one.path > after.path : one.wakeAt > after.wakeAt;
          })
          .slice(0, limit)
          .map(({ path, document }) => ({ path, document: structuredClone(document) }));
      }),

    dump() {
      const present = [...documents].flatMap(([path, { document }]) =>
        document === null ? [] : [[path, document] as const],
      );
      return new Map(present.sort(([a], [b]) => (a < b ? -1 : 1)));
    },

    onCommit: (listener) => void listeners.push(listener),

    expire(now) {
      const expired = [...this.dump()].filter(([, { expire_at: at }]) => typeof at === 'number' && at <= now);
      commits++;
      for (const [path] of expired) documents.set(path, { document: null, version: commits });
      return expired.length;
    },
  };
}

function checkPath(path: string): string {
  const parts = path.split('/');
  const legal = parts.every(
    (part) => part !== '' && part !== '.' && part !== '..' && !/^__.*__$/.test(part) && Buffer.byteLength(part) <= 1500,
  );
  if (parts.length % 2 !== 0 || !legal) throw new Error(`illegal document path ${path}`);
  return path;
}

const LARGEST_DOCUMENT = 1_048_576;

/** A copy, as storing makes one; what Firestore would refuse is refused. */
function checkDocument(document: Document): Document {
  const size = sizeOf(document);
  if (size > LARGEST_DOCUMENT) throw new Error(`the document has ${size} bytes, more than a document can hold`);
  return structuredClone(document);
}

/** About what Firestore counts. */
export function sizeOf(value: unknown): number {
  if (value === undefined) throw new Error('undefined cannot be stored');
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} is not a stored number`);
  if (typeof value === 'string') return Buffer.byteLength(value) + 1;
  if (value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item), 0);
  if (typeof value !== 'object' || value === null) return 8;
  return Object.entries(value).reduce((sum, [name, item]) => sum + Buffer.byteLength(name) + 1 + sizeOf(item), 0);
}
