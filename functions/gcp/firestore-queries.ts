import type { protos } from '@google-cloud/firestore-api';
import type { DueQuery } from '../ports.ts';

type Query = protos.google.firestore.v1.IStructuredQuery;

const field = (fieldPath: string) => ({ fieldPath });
const ascending = (fieldPath: string) => ({ field: field(fieldPath), direction: 'ASCENDING' as const });

/** Documents of a shard whose wake-up has come, by (wake_at, id). `nameOf` makes a path a full name. */
export function dueQuery(
  { collection, shard, before, limit, after }: DueQuery,
  nameOf: (path: string) => string,
): Query {
  const isShard = { field: field('shard'), op: 'EQUAL' as const, value: { integerValue: shard } };
  const isDue = { field: field('wake_at'), op: 'LESS_THAN_OR_EQUAL' as const, value: { integerValue: before } };
  const filters = [{ fieldFilter: isShard }, { fieldFilter: isDue }];
  const query: Query = {
    from: [{ collectionId: collection }],
    where: { compositeFilter: { op: 'AND', filters } },
    orderBy: [ascending('wake_at'), ascending('__name__')],
    limit: { value: limit },
  };
  if (after === undefined) return query;
  const values = [{ integerValue: after.wakeAt }, { referenceValue: nameOf(after.path) }];
  return { ...query, startAt: { values, before: false } };
}

/** Documents with a wake-up, in the order of the one index that has them; it leaves out whatever has no `wake_at`. */
export function waitingQuery(collection: string, atMost: number): Query {
  return {
    from: [{ collectionId: collection }],
    orderBy: [ascending('shard'), ascending('wake_at')],
    limit: { value: atMost },
  };
}
