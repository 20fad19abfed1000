import type { StoredDocument } from './collection.ts';

interface Change {
  readonly at: number;
  readonly name: string;
  readonly before: StoredDocument | undefined;
}

/**
 * What changed since the oldest open snapshot. With it a transaction reads the state of its first read,
 * and its commit finds out whether anything that it read has changed. Nothing is kept while nobody looks.
 */
export class History {
  #log: Change[] = [];
  readonly #byName = new Map<string, Change[]>();
  readonly #open = new Map<object, number>();
  #next = 0;

  /** Opens a snapshot of the present for `owner`. */
  open(owner: object): void {
    if (!this.#open.has(owner)) this.#open.set(owner, this.#next);
  }

  close(owner: object): void {
    if (!this.#open.delete(owner)) return;
    if (this.#open.size === 0) {
      this.#log = [];
      this.#byName.clear();
    } else if (this.#log.length > 4096) {
      this.#trim();
    }
  }

  record(name: string, before: StoredDocument | undefined): void {
    if (this.#open.size === 0) return;
    const change = { at: this.#next++, name, before };
    this.#log.push(change);
    const changes = this.#byName.get(name);
    if (changes) changes.push(change);
    else this.#byName.set(name, [change]);
  }

  /** The document in the owner's snapshot, or `undefined` with `changed: false` when the present one is it. */
  before(owner: object, name: string): { changed: boolean; document: StoredDocument | undefined } {
    const start = this.#open.get(owner);
    if (start === undefined) return { changed: false, document: undefined };
    const change = this.#byName.get(name)?.find(({ at }) => at >= start);
    return { changed: change !== undefined, document: change?.before };
  }

  /** The names that changed since the owner's snapshot, with what the snapshot holds. */
  since(owner: object): Map<string, StoredDocument | undefined> {
    const start = this.#open.get(owner);
    const changed = new Map<string, StoredDocument | undefined>();
    const first = this.#log[0]?.at;
    if (start === undefined || first === undefined) return changed;
    for (let i = Math.max(0, start - first); i < this.#log.length; i++) {
      const { name, before } = this.#log[i]!;
      if (!changed.has(name)) changed.set(name, before);
    }
    return changed;
  }

  #trim(): void {
    const oldest = Math.min(...this.#open.values());
    const first = this.#log[0]!.at;
    const gone = this.#log.splice(0, oldest - first);
    for (const name of new Set(gone.map((change) => change.name))) {
      const rest = this.#byName.get(name)!.filter(({ at }) => at >= oldest);
      if (rest.length > 0) this.#byName.set(name, rest);
      else this.#byName.delete(name);
    }
  }
}
