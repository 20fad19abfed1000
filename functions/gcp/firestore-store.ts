import {
  FieldPath,
  Firestore,
  Timestamp,
  type DocumentSnapshot,
  type DocumentData,
  type Query,
} from '@google-cloud/firestore';
import { AmbiguousError, CodaflowError, toError, TransientError } from '../core/errors.ts';
import type { Document, Store, Transaction, Value } from '../ports.ts';
import { channelOptions } from './channel.ts';
import type { AdapterContext } from './runtime.ts';

/** gRPC statuses. */
const DEADLINE_EXCEEDED = 4;
const RESOURCE_EXHAUSTED = 8;
const ABORTED = 10;
/** After these on a commit its effect is unknown: CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE. */
const AMBIGUOUS = new Set<unknown>([1, 2, DEADLINE_EXCEEDED, 13, 14]);

/** TTL policies look at timestamps only, so this one field is stored as one; everything else as it is. */
const TTL_FIELD = 'expire_at';

/**
 * The client sends a commit again after UNAVAILABLE, and is then told that the transaction is no longer valid: nothing
 * about whether the first one counted. So a commit is sent once, and what its answer leaves open is seen as open.
 */
const COMMIT_ONCE = {
  interfaces: {
    'google.firestore.v1.Firestore': {
      retry_codes: { none: [] },
      methods: { Commit: { retry_codes_name: 'none', retry_params_name: 'default' } },
    },
  },
};

/** Documents in Firestore. Each call has the configured deadline and is tried once: repeating is the caller's decision. */
export function createStore({ config, clock }: Pick<AdapterContext, 'config' | 'clock'>): Store & {
  close(): Promise<void>;
} {
  const db = new Firestore({
    projectId: config.projectId,
    databaseId: config.database,
    preferRest: false,
    clientConfig: COMMIT_ONCE,
    ...channelOptions(config),
  });

  /** `work` within the deadline; `committing` tells whether the answer that is missing is that of a commit. */
  async function within<T>(work: (call: Call) => Promise<T>): Promise<T> {
    const timer = new AbortController();
    const call: Call = { committing: false, late: false };
    const ms = config.portDeadline / 1000;
    const deadline = clock.sleep(ms, timer.signal).then(() => {
      call.late = true;
      const text = `Firestore took longer than ${ms} ms`;
      throw call.committing ? new AmbiguousError(text) : new TransientError('deadline_exceeded', text);
    });
    const answer = work(call);
    try {
      return await Promise.race([answer, deadline]);
    } catch (error) {
      throw classify(error, call.committing);
    } finally {
      timer.abort();
      deadline.catch(() => undefined);
      answer.catch(() => undefined);
    }
  }

  return {
    transaction: (work) =>
      within((call) =>
        db.runTransaction(
          async (tx) => {
            const result = await work(port(db, tx));
            // The caller has given up already; committing now would be an effect that nobody knows of.
            if (call.late) throw new TransientError('deadline_exceeded', 'the deadline passed before the commit');
            call.committing = true;
            return result;
          },
          { maxAttempts: 1 },
        ),
      ),
    get: (path) => within(async () => fromSnapshot(await db.doc(path).get())),
    due: (query) =>
      within(async () => {
        let found: Query = db
          .collection(query.collection)
          .where('shard', '==', query.shard)
          .where('wake_at', '<=', query.before)
          .orderBy('wake_at')
          .orderBy(FieldPath.documentId())
          .limit(query.limit);
        if (query.after !== undefined) found = found.startAfter(query.after.wakeAt, db.doc(query.after.path));
        const { docs } = await found.get();
        return docs.map((snapshot) => ({ path: snapshot.ref.path, document: toDocument(snapshot.data()) }));
      }),
    waiting: (collection, atMost) =>
      within(async () => {
        // In the order of the one index that has it, which leaves out whatever has no `wake_at`.
        const query = db.collection(collection).orderBy('shard').orderBy('wake_at').limit(atMost);
        return (await query.count().get()).data().count;
      }),
    close: () => db.terminate(),
  };
}

interface Call {
  committing: boolean;
  late: boolean;
}

function port(db: Firestore, tx: FirebaseFirestore.Transaction): Transaction {
  return {
    async get(paths) {
      if (paths.length === 0) return [];
      // The answer is in the order of the request.
      return (await tx.getAll(...paths.map((path) => db.doc(path)))).map(fromSnapshot);
    },
    set(path, document) {
      tx.set(db.doc(path), toData(document));
    },
    delete(path) {
      tx.delete(db.doc(path));
    },
  };
}

function fromSnapshot(snapshot: DocumentSnapshot): Document | null {
  const data = snapshot.data();
  return data === undefined ? null : toDocument(data);
}

function toDocument(data: DocumentData): Document {
  const ttl: unknown = data[TTL_FIELD];
  if (!(ttl instanceof Timestamp)) return data;
  return { ...data, [TTL_FIELD]: ttl.seconds * 1e6 + Math.floor(ttl.nanoseconds / 1e3) };
}

function toData(document: Document): DocumentData {
  const ttl: Value | undefined = document[TTL_FIELD];
  if (typeof ttl !== 'number') return document;
  const seconds = Math.floor(ttl / 1e6);
  return { ...document, [TTL_FIELD]: new Timestamp(seconds, (ttl - seconds * 1e6) * 1e3) };
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
