import { valueAt } from './fields.ts';
import type { Order } from './query.ts';
import { parseFieldPath, type FieldPath } from './paths.ts';
import { SortedList } from './sorted.ts';
import { canonical, compare, compareNames } from './values.ts';
import type { Document, Value } from './wire.ts';

/** A document as it is kept; never changed, only replaced. */
export interface StoredDocument extends Document {
  /** Update time in epoch microseconds; unique within a document's life. */
  readonly version: number;
}

interface Entry {
  readonly keys: readonly Value[];
  document: StoredDocument;
}

/** How many indexes a collection keeps; the one used least recently goes first. */
const MAX_INDEXES = 8;

/** Documents in the order of some fields, in one sorted list for every combination of values of others. */
export class Index {
  readonly #equal: readonly FieldPath[];
  readonly #orders: readonly Order[];
  readonly #lists = new Map<string, SortedList<Entry>>();

  constructor(equal: readonly FieldPath[], orders: readonly Order[], documents: Iterable<StoredDocument>) {
    this.#equal = equal;
    this.#orders = orders;
    const entries = new Map<string, Entry[]>();
    for (const document of documents) {
      const [list, entry] = this.#locate(document) ?? [];
      if (list === undefined || entry === undefined) continue;
      const others = entries.get(list);
      if (others) others.push(entry);
      else entries.set(list, [entry]);
    }
    for (const [list, items] of entries) this.#lists.set(list, new SortedList(this.#compare, items));
  }

  replace(before: StoredDocument | undefined, after: StoredDocument | undefined): void {
    const old = before && this.#locate(before);
    const now = after && this.#locate(after);
    if (old && now && old[0] === now[0] && this.#compare(old[1], now[1]) === 0) {
      const entry = this.#lists.get(old[0])?.find(old[1]);
      if (entry) entry.document = after;
      return;
    }
    if (old) {
      const list = this.#lists.get(old[0]);
      list?.remove(old[1]);
      if (list?.isEmpty) this.#lists.delete(old[0]);
    }
    if (now) {
      let list = this.#lists.get(now[0]);
      if (!list) this.#lists.set(now[0], (list = new SortedList(this.#compare)));
      list.add(now[1]);
    }
  }

  /** Documents with these values, in order, from the first whose keys are not `before`. */
  *scan(
    values: readonly Value[],
    before: (keys: readonly Value[]) => boolean,
  ): Generator<[readonly Value[], StoredDocument]> {
    const list = this.#lists.get(values.map(canonical).join());
    if (!list) return;
    for (const { keys, document } of list.from((entry) => before(entry.keys))) yield [keys, document];
  }

  readonly #compare = (a: Entry, b: Entry): number => {
    for (let i = 0; i < this.#orders.length; i++) {
      const order = this.#orders[i]!;
      const c = order.path.isName ? compareNames(a.document.name, b.document.name) : compare(a.keys[i]!, b.keys[i]!);
      if (c !== 0) return c * order.sign;
    }
    return 0;
  };

  /** Undefined when the document lacks one of the fields. */
  #locate(document: StoredDocument): [list: string, entry: Entry] | undefined {
    const keys = valuesAt(document, this.#orders);
    if (!keys) return undefined;
    const equal: string[] = [];
    for (const path of this.#equal) {
      const value = valueAt(document, path);
      if (value === undefined) return undefined;
      equal.push(canonical(value));
    }
    return [equal.join(), { keys, document }];
  }
}

/** The values that order a document; undefined when it lacks one of the fields. */
export function valuesAt(document: Document, orders: readonly Order[]): Value[] | undefined {
  const values: Value[] = [];
  for (const { path } of orders) {
    const value = valueAt(document, path);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

/** The documents of a collection or of a collection group, with indexes made when a query first wants them. */
export class Collection {
  readonly documents = new Map<string, StoredDocument>();
  readonly #indexes = new Map<string, Index>();

  replace(before: StoredDocument | undefined, after: StoredDocument | undefined): void {
    if (after) this.documents.set(after.name, after);
    else if (before) this.documents.delete(before.name);
    for (const index of this.#indexes.values()) index.replace(before, after);
  }

  index(equal: readonly FieldPath[], orders: readonly Order[]): Index {
    const sorted = [...new Set(equal.map(({ text }) => text))].sort();
    const key = JSON.stringify([sorted, orders.map(({ path, sign }) => [path.text, sign])]);
    const index = this.#indexes.get(key) ?? new Index(sorted.map(parseFieldPath), orders, this.documents.values());
    this.#indexes.delete(key);
    this.#indexes.set(key, index);
    if (this.#indexes.size > MAX_INDEXES) this.#indexes.delete(this.#indexes.keys().next().value!);
    return index;
  }
}
