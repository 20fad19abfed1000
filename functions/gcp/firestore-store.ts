import type { protos } from '@google-cloud/firestore-api';
import { AmbiguousError, CodaflowError, toError, TransientError } from '../core/errors.ts';
import type { Document, Store, Transaction } from '../ports.ts';
import { callOptions, connect, each, type FirestoreClient } from './firestore-client.ts';
import { dueQuery, waitingQuery } from './firestore-queries.ts';
import { fromFields, toFields } from './firestore-values.ts';
import type { AdapterContext } from './runtime.ts';
import { withDeadline } from './status.ts';

type Write = protos.google.firestore.v1.IWrite;
type BatchGetRequest = protos.google.firestore.v1.IBatchGetDocumentsRequest;
type BatchGetResponse = protos.google.firestore.v1.IBatchGetDocumentsResponse;
type QueryResponse = protos.google.firestore.v1.IRunQueryResponse;
type AggregationResponse = protos.google.firestore.v1.IRunAggregationQueryResponse;

/** gRPC statuses. */
const DEADLINE_EXCEEDED = 4;
const RESOURCE_EXHAUSTED = 8;
const ABORTED = 10;
/** After these on a commit its effect is unknown: CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE. */
const AMBIGUOUS = new Set<unknown>([1, 2, DEADLINE_EXCEEDED, 13, 14]);

/**
 * Documents in Firestore. Each call has the configured deadline. The client may repeat a read within it; a commit is sent
 * once, and repeating a transaction is the caller's decision.
 */
export function createStore({ config }: Pick<AdapterContext, 'config'>): Store & {
  close(): Promise<void>;
} {
  const database = `projects/${config.projectId}/databases/${config.database}`;
  const root = `${database}/documents`;
  const options = callOptions(config, database);
  const nameOf = (path: string): string => `${root}/${path}`;
  let connecting: Promise<FirestoreClient> | undefined;

  function connected(): Promise<FirestoreClient> {
    connecting ??= connect(config).catch((error: unknown) => {
      // Credentials may be there the next time.
      connecting = undefined;
      throw new TransientError('unavailable', `Firestore: ${toError(error).message}`, error);
    });
    return connecting;
  }

  /** `work` within the deadline; `committing` tells whether the answer that is missing is that of a commit. */
  async function within<T>(work: (call: Call) => Promise<T>): Promise<T> {
    const call: Call = { committing: false, late: false };
    const ms = config.portDeadline / 1000;
    try {
      return await withDeadline(work(call), ms, 'Firestore', () => (call.late = true));
    } catch (error) {
      if (!call.late || call.committing) throw classify(error, call.committing);
      throw new TransientError('deadline_exceeded', toError(error).message, error);
    }
  }

  /** Documents in the order of the paths; `opened` hears of the transaction that `newTransaction` began. */
  async function read(
    client: FirestoreClient,
    paths: readonly string[],
    within: BatchGetRequest,
    opened: (transaction: Uint8Array) => void = () => undefined,
  ): Promise<(Document | null)[]> {
    const documents = paths.map(nameOf);
    const found = new Map<string, Document | null>();
    const stream = client.batchGetDocuments({ database, documents, ...within }, options());
    await each<BatchGetResponse>(stream, (response) => {
      // It is in one of the answers, and empty in the others.
      if (response.transaction?.length) opened(response.transaction as Uint8Array);
      if (response.found) found.set(response.found.name!, fromFields(response.found.fields ?? {}));
      else if (response.missing) found.set(response.missing, null);
    });
    return documents.map((name) => {
      const document = found.get(name);
      if (document === undefined) throw new TransientError('unavailable', `Firestore did not answer for ${name}`);
      return document;
    });
  }

  async function transact<T>(work: (tx: Transaction) => Promise<T>, call: Call): Promise<T> {
    const client = await connected();
    let opened: Promise<Uint8Array> | undefined;
    const writes: Write[] = [];
    const tx: Transaction = {
      async get(paths) {
        if (paths.length === 0) return [];
        if (opened !== undefined) return read(client, paths, { transaction: await opened });
        // Known as soon as it begins: a read that fails after that has left locks.
        const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
        opened = promise;
        const first = read(client, paths, { newTransaction: { readWrite: {} } }, resolve);
        first.then(() => reject(new TransientError('unavailable', 'Firestore opened no transaction')), reject);
        // Whoever needs it hears of its failure; until then it would count as unhandled, which ends the process.
        opened.catch(() => undefined);
        return first;
      },
      set(path, document) {
        writes.push({ update: { name: nameOf(path), fields: toFields(document) } });
      },
      delete(path) {
        writes.push({ delete: nameOf(path) });
      },
    };
    try {
      const result = await work(tx);
      const transaction = await opened;
      // The caller has given up already; committing now would be an effect that nobody knows of.
      if (call.late) throw new TransientError('deadline_exceeded', 'the deadline passed before the commit');
      if (transaction === undefined && writes.length === 0) return result;
      call.committing = true;
      await client.commit({ database, writes, ...(transaction === undefined ? {} : { transaction }) }, options());
      return result;
    } catch (error) {
      // Lets go of its locks at once instead of when they run out; nobody waits for it.
      opened?.then((transaction) => client.rollback({ database, transaction }, options())).catch(() => undefined);
      throw error;
    }
  }

  return {
    transaction: (work) => within((call) => transact(work, call)),
    get: (path) => within(async () => (await read(await connected(), [path], {}))[0]!),
    due: (query) =>
      within(async () => {
        const request = { parent: root, structuredQuery: dueQuery(query, nameOf) };
        const found: { path: string; document: Document }[] = [];
        const stream = (await connected()).runQuery(request, options());
        await each<QueryResponse>(stream, ({ document }) => {
          if (document) {
            const path = document.name!.slice(root.length + 1);
            found.push({ path, document: fromFields(document.fields ?? {}) });
          }
        });
        return found;
      }),
    waiting: (collection, atMost) =>
      within(async () => {
        let count = 0;
        const aggregations = [{ alias: 'waiting', count: {} }];
        const structuredAggregationQuery = { structuredQuery: waitingQuery(collection, atMost), aggregations };
        const stream = (await connected()).runAggregationQuery({ parent: root, structuredAggregationQuery }, options());
        await each<AggregationResponse>(stream, ({ result }) => {
          count = Number(result?.aggregateFields?.['waiting']?.integerValue ?? count);
        });
        return count;
      }),
    close: async () => (await connecting)?.close(),
  };
}

interface Call {
  committing: boolean;
  late: boolean;
}

function classify(thrown: unknown, committing: boolean): Error {
  const error = toError(thrown);
  if (error instanceof CodaflowError) return error;
  const code = (error as { code?: unknown }).code;
  if (code === ABORTED) return new TransientError('contention', error.message, error);
  if (committing && AMBIGUOUS.has(code)) return new AmbiguousError(error.message, error);
  // What the caller's own code threw is no failure of Firestore.
  if (typeof code !== 'number') return error;
  if (code === RESOURCE_EXHAUSTED) return new TransientError('overloaded', error.message, error);
  if (code === DEADLINE_EXCEEDED) return new TransientError('deadline_exceeded', error.message, error);
  // Also for what looks permanent (permission, missing index): an operator cures it, the message must not be lost.
  return new TransientError('unavailable', error.message, error);
}
