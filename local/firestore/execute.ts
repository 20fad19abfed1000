import { valuesAt, type Collection, type StoredDocument } from './collection.ts';
import type { Condition } from './filters.ts';
import { inScope, type Order, type Query } from './query.ts';
import { compare, rank } from './values.ts';
import type { Cursor, Value } from './wire.ts';

/** Below this many documents sorting is as fast as an index. */
const INDEX_FROM = 64;

type Keys = readonly Value[];

export interface Results {
  readonly documents: readonly StoredDocument[];
  /** How many were passed over because of the offset. */
  readonly skipped: number;
}

/** Runs a query over a collection (through an index) or over any documents (by sorting the matches). */
export function execute(query: Query, source: Collection | Iterable<StoredDocument>): Results {
  const indexed = Symbol.iterator in source ? undefined : source;
  const matches = !indexed || indexed.documents.size < INDEX_FROM ? sorted(query, source) : viaIndex(query, indexed);
  const documents: StoredDocument[] = [];
  let skipped = 0;
  if (query.limit === 0) return { documents, skipped };
  for (const document of matches) {
    if (skipped < query.offset) {
      skipped++;
      continue;
    }
    documents.push(document);
    if (documents.length >= query.limit) break;
  }
  return { documents, skipped };
}

function* sorted(query: Query, source: Collection | Iterable<StoredDocument>): Generator<StoredDocument> {
  const found: [Keys, StoredDocument][] = [];
  const range = cursorRange(query);
  for (const document of Symbol.iterator in source ? source : source.documents.values()) {
    if (!inScope(query, document.name) || !query.filter.matches(document)) continue;
    const keys = valuesAt(document, query.orders);
    if (keys && !range.before(keys) && !range.after(keys)) found.push([keys, document]);
  }
  found.sort(([a], [b]) => compareKeys(a, b, query.orders));
  for (const [, document] of found) yield document;
}

function* viaIndex(query: Query, collection: Collection): Generator<StoredDocument> {
  const equal = new Map<string, Condition>();
  for (const condition of query.filter.required) {
    if (condition.op === 'EQUAL' && !condition.path.isName) equal.set(condition.path.text, condition);
  }
  const conditions = [...equal].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, condition]) => condition);
  const index = collection.index(
    conditions.map(({ path }) => path),
    query.orders,
  );
  const range = fullRange(query);
  for (const [keys, document] of index.scan(
    conditions.map(({ value }) => value),
    range.before,
  )) {
    if (range.after(keys)) return;
    if (inScope(query, document.name) && query.filter.matches(document)) yield document;
  }
}

function compareKeys(a: Keys, b: Keys, orders: readonly Order[]): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compare(a[i]!, b[i]!);
    if (order !== 0) return order * orders[i]!.sign;
  }
  return 0;
}

interface Range {
  /** True of a prefix of all keys in order: what comes before the first result. */
  readonly before: (keys: Keys) => boolean;
  /** True of a suffix: what comes after the last result. */
  readonly after: (keys: Keys) => boolean;
}

/** What the cursors leave. */
function cursorRange({ startAt, endAt, orders }: Query): Range {
  return {
    before: (keys) => startAt !== null && position(keys, startAt, orders) < 0,
    after: (keys) => endAt !== null && position(keys, endAt, orders) > 0,
  };
}

/** What the cursors and the conditions on the first order leave: with it an index is read only where it must. */
function fullRange(query: Query): Range {
  const cursors = cursorRange(query);
  const before = [cursors.before];
  const after = [cursors.after];
  const first = query.orders[0]!;
  for (const { path, op, value } of query.filter.required) {
    const range = path.text === first.path.text ? RANGES[op] : undefined;
    if (!range) continue;
    const [low, high] = range;
    const type = (keys: Keys) => rank(keys[0]!) - rank(value);
    const below = (keys: Keys) => type(keys) < 0 || (type(keys) === 0 && low(compare(keys[0]!, value)));
    const above = (keys: Keys) => type(keys) > 0 || (type(keys) === 0 && high(compare(keys[0]!, value)));
    before.push(first.sign === 1 ? below : above);
    after.push(first.sign === 1 ? above : below);
  }
  return {
    before: (keys) => before.some((test) => test(keys)),
    after: (keys) => after.some((test) => test(keys)),
  };
}

/** Operator to: which comparisons of a key with the value lie below and above the condition. */
const RANGES: Record<string, [low: (c: number) => boolean, high: (c: number) => boolean]> = {
  EQUAL: [(c) => c < 0, (c) => c > 0],
  LESS_THAN: [() => false, (c) => c >= 0],
  LESS_THAN_OR_EQUAL: [() => false, (c) => c > 0],
  GREATER_THAN: [(c) => c <= 0, () => false],
  GREATER_THAN_OR_EQUAL: [(c) => c < 0, () => false],
};

/** Where keys stand against a cursor: a cursor lies just before or just after its values, so never at them. */
function position(keys: Keys, cursor: Cursor, orders: readonly Order[]): number {
  return compareKeys(keys, cursor.values, orders) || (cursor.before ? 1 : -1);
}
