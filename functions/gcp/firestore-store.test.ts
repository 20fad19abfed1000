import { Firestore, Timestamp } from '@google-cloud/firestore';
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { startFirestore, type FirestoreServer } from '../../local/firestore/server.ts';
import { Faults, type Fault } from '../../local/shared/faults.ts';
import { requestEnd } from '../../test/fakes/clock.ts';
import { event, SETTINGS } from '../../test/fakes/keys.ts';
import { loadConfig } from '../config.ts';
import { AmbiguousError, TransientError } from '../core/errors.ts';
import { sequencePath } from '../keys/documents.ts';
import { createRecorder } from '../keys/record.ts';
import type { Document } from '../ports.ts';
import { createClock } from './clock.ts';
import { createStore } from './firestore-store.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

const DATABASE = 'codaflow';
const clock = createClock();

let server: FirestoreServer;
let db: Firestore;
let store: ReturnType<typeof createStore>;
let hurried: ReturnType<typeof createStore>;
/** What the next call of a method meets. */
let faults: Record<string, Fault>;
/** A method that is refused for as long as this is set; the client itself repeats reads. */
let refused: string | null = null;
let collections = 0;
let collection = '';

before(async () => {
  const hook = new Faults(({ method }) => {
    if (method === refused) return { kind: 'refuse', code: 14 };
    const fault = faults[method];
    delete faults[method];
    return fault;
  });
  server = await startFirestore({ faults: hook });
  process.env['FIRESTORE_EMULATOR_HOST'] = server.address;
  const env = {
    PROJECT_ID: 'local-project',
    FIRESTORE_DATABASE: DATABASE,
    FIRESTORE_EMULATOR_HOST: server.address,
  };
  db = new Firestore({ projectId: 'local-project', databaseId: DATABASE });
  store = createStore({ config: loadConfig(env) });
  hurried = createStore({ config: loadConfig({ ...env, PORT_DEADLINE: '300ms' }) });
});

after(async () => {
  await Promise.all([db.terminate(), store.close(), hurried.close()]);
  await server.stop();
});

beforeEach(() => {
  faults = {};
  collection = `c${collections++}`;
});

const put = (path: string, document: Document, into = store) =>
  into.transaction(async (tx) => {
    await tx.get([path]);
    tx.set(path, document);
  });

const transient = (code: string) => (error: unknown) => error instanceof TransientError && error.code === code;

describe('documents in Firestore', () => {
  it('come back as they were', async () => {
    const document: Document = {
      bytes: new Uint8Array([0, 255, 7]),
      micros: 1_704_448_800_123_456,
      fraction: 0.5,
      text: 'é😀',
      nested: { list: [1, null, true] },
      expire_at: 1_704_448_800_123_457,
    };
    const path = `${collection}/4f2a-%2F`;
    await put(path, document);
    const found = await store.get(path);
    assert.deepEqual({ ...found, bytes: new Uint8Array(found!['bytes'] as Uint8Array) }, document);
    assert.ok(((await db.doc(path).get()).get('expire_at') as unknown) instanceof Timestamp, 'for the TTL policy');
    assert.equal(await store.get(`${collection}/absent`), null);
  });

  it('are replaced whole, deleted, and read in the order of the paths', async () => {
    const paths = ['c', 'a', 'b'].map((id) => `${collection}/${id}`);
    await put(paths[0]!, { n: 1, more: true });
    await put(paths[0]!, { n: 2 });
    await put(paths[2]!, { n: 3 });
    assert.deepEqual(await store.transaction((tx) => tx.get(paths)), [{ n: 2 }, null, { n: 3 }]);
    await store.transaction(async (tx) => tx.delete(paths[0]!));
    assert.equal(await store.get(paths[0]!), null);
    assert.deepEqual(await store.transaction((tx) => tx.get([])), []);
  });

  it('that are due come by time and id, page by page, from one shard', async () => {
    const wakeAt = [30, 10, 20, 10, 99];
    for (const [i, at] of wakeAt.entries()) await put(`${collection}/d${i}`, { shard: 3, wake_at: at });
    await put(`${collection}/other`, { shard: 4, wake_at: 1 });
    await put(`${collection}/asleep`, { shard: 3 });
    const query = { collection, shard: 3, before: 30, limit: 3 };
    const first = await store.due(query);
    const ids = (page: typeof first) => page.map(({ path }) => path.split('/')[1]);
    assert.deepEqual(ids(first), ['d1', 'd3', 'd2']);
    const cursor = (n: number) => ({
      wakeAt: Number(first[n]!.document['wake_at']),
      path: first[n]!.path,
    });
    assert.deepEqual(ids(await store.due({ ...query, after: cursor(2) })), ['d0']);
    assert.deepEqual(ids(await store.due({ ...query, after: cursor(0) })), ['d3', 'd2', 'd0']);
    assert.equal(await store.waiting(collection, 100), 6);
    assert.equal(await store.waiting(collection, 4), 4);
    assert.equal(await store.waiting(`${collection}-none`, 4), 0);
  });
});

describe('a transaction', () => {
  it('fails as contention when somebody interferes, and is tried once', async () => {
    const path = `${collection}/d`;
    await put(path, { n: 1 });
    let runs = 0;
    const loser = store.transaction(async (tx) => {
      runs++;
      await tx.get([path]);
      if (runs === 1) await put(path, { n: 2 }).catch(() => undefined);
      tx.set(path, { n: 3 });
    });
    await assert.rejects(loser, transient('contention'));
    assert.equal(runs, 1);
    assert.deepEqual(await store.get(path), { n: 2 });
  });

  it('passes on what its own code throws, and writes nothing', async () => {
    const mistake = new RangeError('mine');
    const run = store.transaction(async (tx) => {
      tx.set(`${collection}/d`, { n: 1 });
      throw mistake;
    });
    await assert.rejects(run, (error) => error === mistake);
    assert.equal(await store.get(`${collection}/d`), null);
  });

  for (const [name, code] of Object.entries({ INTERNAL: 13, UNAVAILABLE: 14 })) {
    it(`is ambiguous when the answer of its commit is lost with ${name}`, async () => {
      faults['Commit'] = { kind: 'lose_answer', code };
      await assert.rejects(put(`${collection}/d`, { n: 1 }), AmbiguousError);
      assert.deepEqual(await store.get(`${collection}/d`), { n: 1 });
    });
  }

  it('is ambiguous when its commit takes too long', async () => {
    faults['Commit'] = { kind: 'delay', ms: 600 };
    await assert.rejects(put(`${collection}/d`, { n: 1 }, hurried), AmbiguousError);
  });

  it('commits nothing once its deadline passed before the commit', async () => {
    const path = `${collection}/d`;
    let left: Promise<void> | undefined;
    const run = hurried.transaction(async (tx) => {
      left = clock.sleep(400);
      await left;
      tx.set(path, { n: 1 });
    });
    const alive = setInterval(() => undefined, 50);
    await assert.rejects(run, transient('deadline_exceeded'));
    await left;
    clearInterval(alive);
    assert.equal(await store.get(path), null);
  });

  it('surely had no effect when its reads are refused', async () => {
    refused = 'BatchGetDocuments';
    await assert.rejects(put(`${collection}/d`, { n: 1 }, hurried), TransientError);
    refused = null;
    assert.equal(await store.get(`${collection}/d`), null);
  });
});

describe('the recorder on Firestore', () => {
  it('counts every event once, however many instances record them at once', async () => {
    const recorder = createRecorder({ store, clock }, { ...SETTINGS, idsInline: 4 });
    const events = Array.from({ length: 12 }, (_, i) => event({ uniqueKey: `${collection}/key`, eventId: `e${i}` }));
    const deliver = async (one: (typeof events)[number]): Promise<string> => {
      for (;;) {
        const [outcome] = (await recorder.record([one], requestEnd(clock))).outcomes;
        if (outcome!.kind !== 'failed') return outcome!.kind;
      }
    };
    const kinds = await Promise.all([...events, ...events].map(deliver));
    assert.equal(kinds.filter((kind) => kind === 'recorded').length, 12);
    const document = await store.get(sequencePath(`${collection}/key`));
    assert.equal(document!['version'], 12);
    assert.equal((await db.collection(`${sequencePath(`${collection}/key`)}/ids`).get()).size, 8);
  });
});
