import { invalid, unimplemented } from './errors.ts';
import { compileFilter, type CompiledFilter } from './filters.ts';
import { checkId, databaseOf, lastOf, parentOf, parseFieldPath, type FieldPath } from './paths.ts';
import type { Cursor, StructuredQuery } from './wire.ts';

export interface Order {
  readonly path: FieldPath;
  readonly sign: 1 | -1;
}

/** A checked query. */
export interface Query {
  readonly parent: string;
  readonly collectionId: string;
  readonly allDescendants: boolean;
  readonly filter: CompiledFilter;
  /** Explicit orders, then the fields with inequalities, then the name. */
  readonly orders: readonly Order[];
  readonly startAt: Cursor | null;
  readonly endAt: Cursor | null;
  readonly offset: number;
  readonly limit: number;
  readonly select: readonly FieldPath[] | null;
}

const NAME = parseFieldPath('__name__');

/** Throws INVALID_ARGUMENT for a query that Firestore refuses, UNIMPLEMENTED for what is not supported here. */
export function compileQuery(parent: string, query: StructuredQuery): Query {
  databaseOf(parent);
  if (query.findNearest) throw unimplemented('Vector search');
  const [from, ...more] = query.from;
  if (!from || more.length > 0) throw invalid('A query must name exactly one collection selector.');
  if (from.collectionId !== '') checkId(from.collectionId, 'Collection');
  else if (!from.allDescendants) throw invalid('A query without a collection id must take all descendants.');
  const limit = query.limit?.value ?? Infinity;
  if (limit < 0) throw invalid('limit is negative.');
  if (query.offset < 0) throw invalid('offset is negative.');
  const filter = compileFilter(query.where);
  const orders = ordersOf(query, filter);
  return {
    parent,
    collectionId: from.collectionId,
    allDescendants: from.allDescendants,
    filter,
    orders,
    startAt: checkCursor(query.startAt, orders),
    endAt: checkCursor(query.endAt, orders),
    offset: query.offset,
    limit,
    select: query.select ? query.select.fields.map(({ fieldPath }) => parseFieldPath(fieldPath)) : null,
  };
}

function ordersOf(query: StructuredQuery, filter: CompiledFilter): Order[] {
  const orders: Order[] = query.orderBy.map(({ field, direction }) => ({
    path: parseFieldPath(field.fieldPath),
    sign: direction === 'DESCENDING' ? -1 : 1,
  }));
  const sign = orders.at(-1)?.sign ?? 1;
  const inequalities = [...filter.inequalities].filter((path) => !path.isName);
  inequalities.sort((a, b) => (a.text < b.text ? -1 : 1));
  for (const path of [...inequalities, NAME]) {
    if (!orders.some((order) => order.path.text === path.text)) orders.push({ path, sign });
  }
  return orders;
}

function checkCursor(cursor: Cursor | null, orders: readonly Order[]): Cursor | null {
  if (!cursor) return null;
  if (cursor.values.length > orders.length) throw invalid('A cursor has more values than the query has orders.');
  cursor.values.forEach((value, i) => {
    if (orders[i]!.path.isName && value.valueType !== 'referenceValue') {
      throw invalid('A cursor for __name__ must be a document name.');
    }
  });
  return cursor;
}

/** Whether a document name lies where the query looks. */
export function inScope(query: Query, name: string): boolean {
  const collection = parentOf(name);
  if (!query.allDescendants) return collection === `${query.parent}/${query.collectionId}`;
  if (!name.startsWith(`${query.parent}/`)) return false;
  return query.collectionId === '' || lastOf(collection) === query.collectionId;
}
