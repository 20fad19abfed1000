import { Firestore, type CollectionReference } from '@google-cloud/firestore';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { startFirestore, type FirestoreOptions, type FirestoreServer } from './server.ts';

/** For the tests of this folder: a server and the real client. */

process.env['METADATA_SERVER_DETECTION'] = 'none';

/** The client waits a second and more before it runs a transaction again; a tenth is enough on one machine. */
const resolve = createRequire(import.meta.url).resolve('@google-cloud/firestore');
const backoff = createRequire(resolve)('./backoff.js') as {
  setTimeoutHandler(handler: (run: () => void, ms: number) => NodeJS.Timeout): void;
};
backoff.setTimeoutHandler((run, ms) => {
  const timer = setTimeout(run, ms / 10);
  // The idle watch of a listener, two minutes, must not keep the process alive.
  return ms > 60_000 ? timer.unref() : timer;
});

export function connect({ address }: FirestoreServer, databaseId = '(default)'): Firestore {
  process.env['FIRESTORE_EMULATOR_HOST'] = address;
  return new Firestore({ projectId: 'demo', databaseId });
}

/** Runs `body` with a server of its own and a client, and ends both. */
export async function withFirestore<T>(
  options: FirestoreOptions,
  body: (db: Firestore, server: FirestoreServer) => Promise<T>,
): Promise<T> {
  const server = await startFirestore(options);
  const db = connect(server);
  try {
    return await body(db, server);
  } finally {
    await db.terminate();
    await server.stop();
  }
}

export interface Fixture {
  readonly db: Firestore;
  /** A collection that no other test uses. */
  fresh(): CollectionReference;
}

/** One server for all tests of a file; ends with them. */
export async function shared(): Promise<Fixture> {
  const server = await startFirestore();
  const db = connect(server);
  let n = 0;
  after(async () => {
    await db.terminate();
    await server.stop();
  });
  return { db, fresh: () => db.collection(`c${n++}`) };
}

/** Asserts that a promise rejects with a gRPC status. */
export async function rejects(promise: Promise<unknown>, code: number, message?: RegExp): Promise<void> {
  await assert.rejects(promise, (error: Error & { code?: number }) => {
    assert.equal(error.code, code, error.message);
    if (message) assert.match(error.message, message);
    return true;
  });
}

export const INVALID_ARGUMENT = 3;
export const NOT_FOUND = 5;
export const ALREADY_EXISTS = 6;
export const FAILED_PRECONDITION = 9;
export const ABORTED = 10;
export const UNIMPLEMENTED = 12;
