import type { CommitClock } from './clock.ts';
import { Collection, type StoredDocument } from './collection.ts';
import { execute, type Results } from './execute.ts';
import { lastOf, parentOf } from './paths.ts';
import type { Query } from './query.ts';
import { History } from './history.ts';
import { applyWrite, targetOf, type Applied } from './writes.ts';
import type { Write } from './wire.ts';

/** What a commit changes, document by document. */
export type Changes = ReadonlyMap<string, StoredDocument | undefined>;

/** Makes a commit durable before it takes effect; throws when it cannot. */
export type Persist = (changes: Changes, commitTime: number) => void;

/** One database: its documents by name, by collection and, once a query wants it, by collection group. */
export class Database {
  readonly name: string;
  readonly history = new History();
  readonly watchers = new Set<(changes: Changes) => void>();
  readonly #documents = new Map<string, StoredDocument>();
  readonly #collections = new Map<string, Collection>();
  readonly #groups = new Map<string, Collection>();
  readonly #clock: CommitClock;
  readonly #persist: Persist;

  constructor(name: string, clock: CommitClock, persist: Persist) {
    this.name = name;
    this.#clock = clock;
    this.#persist = persist;
  }

  get(name: string): StoredDocument | undefined {
    return this.#documents.get(name);
  }

  /** All documents, in no order. */
  all(): Iterable<StoredDocument> {
    return this.#documents.values();
  }

  /** Full paths of the collections that hold documents. */
  collectionPaths(): Iterable<string> {
    return this.#collections.keys();
  }

  /** The documents that a query has to look at. */
  source(query: Pick<Query, 'parent' | 'collectionId' | 'allDescendants'>): Collection | Iterable<StoredDocument> {
    if (!query.allDescendants) return this.#collections.get(`${query.parent}/${query.collectionId}`) ?? [];
    if (query.collectionId !== '') return this.group(query.collectionId);
    return this.#documents.values();
  }

  query(query: Query): Results {
    return execute(query, this.source(query));
  }

  /** All collections with this id, as one. */
  group(id: string): Collection {
    let group = this.#groups.get(id);
    if (group) return group;
    group = new Collection();
    for (const [path, collection] of this.#collections) {
      if (lastOf(path) !== id) continue;
      for (const document of collection.documents.values()) group.replace(undefined, document);
    }
    this.#groups.set(id, group);
    return group;
  }

  /** All writes or none. Later writes of the list see the earlier ones. */
  commit(writes: readonly Write[]): { applied: Applied[]; time: number } {
    const time = this.#clock.commit();
    const staged = new Map<string, StoredDocument | undefined>();
    const applied = writes.map((write) => {
      const name = targetOf(write);
      const current = staged.has(name) ? staged.get(name) : this.#documents.get(name);
      const one = applyWrite(write, current, this.name, time);
      staged.set(name, one.document);
      return one;
    });
    if (staged.size > 0) {
      this.#persist(staged, time);
      for (const [name, document] of staged) {
        this.history.record(name, this.#documents.get(name));
        this.load(name, document);
      }
      for (const watch of this.watchers) watch(staged);
    }
    return { applied, time };
  }

  /** Puts a document in place, or takes it away, without a commit. */
  load(name: string, document: StoredDocument | undefined): void {
    const before = this.#documents.get(name);
    if (document) this.#documents.set(name, document);
    else this.#documents.delete(name);
    const path = parentOf(name);
    let collection = this.#collections.get(path);
    if (!collection) {
      if (!document) return;
      this.#collections.set(path, (collection = new Collection()));
    }
    collection.replace(before, document);
    if (collection.documents.size === 0) this.#collections.delete(path);
    this.#groups.get(lastOf(path))?.replace(before, document);
  }
}
