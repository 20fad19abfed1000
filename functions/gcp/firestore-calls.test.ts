import * as grpc from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { listen, loadProtos, stop } from '../../local/shared/grpc.ts';
import { loadConfig } from '../config.ts';
import { AmbiguousError, TransientError } from '../core/errors.ts';
import { createStore } from './firestore-store.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

/** What a server that answers as no local one does is asked. */
interface Read extends grpc.ServerWritableStream<{ readonly documents: readonly string[] }, object> {
  end(): this;
}

type Commit = grpc.ServerUnaryCall<object, object>;

const empty = (_: unknown, callback: grpc.sendUnaryData<object>) => callback(null, {});
const server = new grpc.Server();
const TRANSACTION = Buffer.from('the transaction');
const PATH = 'c/d';
let store: ReturnType<typeof createStore>;
let answer: (read: Read) => void;
let commit: (call: Commit, callback: grpc.sendUnaryData<object>) => void;
let commits = 0;
let rolledBack: PromiseWithResolvers<Buffer>;

before(async () => {
  const root = loadProtos('@google-cloud/firestore-api', 'build/protos/protos.json') as unknown as {
    google: { firestore: { v1: { Firestore: { service: grpc.ServiceDefinition } } } };
  };
  server.addService(root.google.firestore.v1.Firestore.service, {
    batchGetDocuments: (read: Read) => answer(read),
    commit: (call: Commit, callback: grpc.sendUnaryData<object>) => {
      commits++;
      commit(call, callback);
    },
    rollback: (call: { readonly request: { readonly transaction: Buffer } }, callback: grpc.sendUnaryData<object>) => {
      rolledBack.resolve(call.request.transaction);
      empty(call, callback);
    },
  });
  const address = `127.0.0.1:${await listen(server)}`;
  const env = { PROJECT_ID: 'local-project', FIRESTORE_EMULATOR_HOST: address, PORT_DEADLINE: '500ms' };
  store = createStore({ config: loadConfig(env) });
});
after(async () => {
  await store.close();
  stop(server);
});
beforeEach(() => {
  commit = empty;
  commits = 0;
  rolledBack = Promise.withResolvers<Buffer>();
});

const missing = (read: Read) => read.write({ missing: read.request.documents[0]! });
const fail = (read: Read, code: number) => read.emit('error', { code, details: 'broken off' });

test('an answer without a transaction fails its transaction only, however long the work goes on', async () => {
  answer = (read) => {
    missing(read);
    read.end();
  };
  const run = store.transaction(async (tx) => {
    await tx.get([PATH]);
    // Long enough for a promise that nobody handles to be noticed.
    await setImmediate();
    await setImmediate();
    tx.set(PATH, { n: 1 });
  });
  await assert.rejects(run, TransientError);
  assert.equal(commits, 0);
});

for (const [name, end] of Object.entries<(read: Read) => void>({
  'ends early': (read) => read.end(),
  'breaks off': (read) => fail(read, 10),
})) {
  test(`a read that ${name} leaves no transaction open`, { timeout: 10_000 }, async () => {
    answer = (read) => {
      read.write({ transaction: TRANSACTION });
      end(read);
    };
    await assert.rejects(
      store.transaction((tx) => tx.get([PATH])),
      TransientError,
    );
    assert.deepEqual(await rolledBack.promise, TRANSACTION);
    assert.equal(commits, 0);
  });
}

test('reads side by side are in one transaction', async () => {
  const asked: string[] = [];
  answer = (read) => {
    asked.push(...read.request.documents.map((name) => name.split('/').at(-1)!));
    if (asked.length === 1) read.write({ transaction: TRANSACTION });
    missing(read);
    read.end();
  };
  const run = store.transaction((tx) => Promise.all(['a', 'b', 'c'].map((id) => tx.get([`c/${id}`]))));
  assert.deepEqual(await run, [[null], [null], [null]]);
  assert.deepEqual(asked.toSorted(), ['a', 'b', 'c']);
  assert.equal(commits, 1);
});

test(
  'a commit that is not answered is given up with its deadline, not minutes later',
  { timeout: 10_000 },
  async () => {
    const cancelled = Promise.withResolvers<void>();
    commit = (call) => call.on('cancelled', cancelled.resolve);
    await assert.rejects(
      store.transaction(async (tx) => tx.set(PATH, { n: 1 })),
      AmbiguousError,
    );
    await cancelled.promise;
  },
);
