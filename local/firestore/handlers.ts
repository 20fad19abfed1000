import type * as grpc from '@grpc/grpc-js';
import type { Meter } from '../shared/meter.ts';
import type { Databases } from './databases.ts';
import { unimplemented } from './errors.ts';
import { Listener } from './listen.ts';
import { Listings } from './listings.ts';
import { Mutations, type SizeOf } from './mutations.ts';
import { relative } from './paths.ts';
import { Reads } from './reads.ts';
import type * as Request from './requests.ts';
import type { Rpc } from './rpc.ts';
import { targetOf } from './writes.ts';

const nothing = (): string => '';
const below = (parent: string, ...ids: string[]): string =>
  [relative(parent), ...ids].filter((id) => id !== '').join('/');

/** The methods of google.firestore.v1.Firestore. */
export function handlers(
  rpc: Rpc,
  databases: Databases,
  meter: Meter,
  sizeOf: SizeOf,
): grpc.UntypedServiceImplementation {
  const reads = new Reads(databases, meter);
  const mutations = new Mutations(databases, meter, sizeOf);
  const listings = new Listings(databases, meter);
  const written = ({ writes }: Request.Commit) => (writes[0] ? relative(targetOf(writes[0])) : '');
  const queried = ({ parent, structuredQuery }: Request.RunQuery) =>
    below(parent, structuredQuery?.from[0]?.collectionId ?? '');
  const aggregated = ({ parent, structuredAggregationQuery: query }: Request.RunAggregationQuery) =>
    below(parent, query?.structuredQuery?.from[0]?.collectionId ?? '');
  const missing = (method: string) => () => {
    throw unimplemented(method);
  };
  return {
    getDocument: rpc.unary(
      'GetDocument',
      ({ name }: Request.GetDocument) => relative(name),
      (r) => reads.getDocument(r),
    ),
    batchGetDocuments: rpc.stream(
      'BatchGetDocuments',
      ({ documents }: Request.BatchGetDocuments) => relative(documents[0] ?? ''),
      (r) => reads.batchGetDocuments(r),
    ),
    runQuery: rpc.stream('RunQuery', queried, (r) => reads.runQuery(r)),
    runAggregationQuery: rpc.stream('RunAggregationQuery', aggregated, (r) => reads.runAggregationQuery(r)),
    listDocuments: rpc.unary(
      'ListDocuments',
      ({ parent, collectionId }: Request.ListDocuments) => below(parent, collectionId),
      (r) => listings.listDocuments(r),
    ),
    listCollectionIds: rpc.unary(
      'ListCollectionIds',
      ({ parent }: Request.ListCollectionIds) => relative(parent),
      (r) => listings.listCollectionIds(r),
    ),
    beginTransaction: rpc.unary('BeginTransaction', nothing, (r: Request.BeginTransaction) =>
      mutations.beginTransaction(r),
    ),
    commit: rpc.unary('Commit', written, (r) => mutations.commit(r)),
    rollback: rpc.unary('Rollback', nothing, (r: Request.Rollback) => mutations.rollback(r)),
    batchWrite: rpc.unary('BatchWrite', written, (r) => mutations.batchWrite(r)),
    createDocument: rpc.unary(
      'CreateDocument',
      (r: Request.CreateDocument) => below(r.parent, r.collectionId, r.documentId),
      (r) => mutations.createDocument(r),
    ),
    updateDocument: rpc.unary(
      'UpdateDocument',
      ({ document }: Request.UpdateDocument) => relative(document?.name ?? ''),
      (r) => mutations.updateDocument(r),
    ),
    deleteDocument: rpc.unary(
      'DeleteDocument',
      ({ name }: Request.DeleteDocument) => relative(name),
      (r) => mutations.deleteDocument(r),
    ),
    listen: rpc.duplex<Request.Listen>(
      'Listen',
      (send) => new Listener(databases, send, (documents) => meter.add('firestore.reads', documents)),
    ),
    partitionQuery: rpc.unary('PartitionQuery', nothing, missing('PartitionQuery')),
    executePipeline: rpc.stream('ExecutePipeline', nothing, missing('ExecutePipeline')),
    write: rpc.duplex('Write', () => ({ receive: missing('Write'), close: () => undefined })),
  };
}
