import { Timestamp } from '@google-cloud/firestore';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { Faults, type Call, type Fault } from '../shared/faults.ts';
import { Meter } from '../shared/meter.ts';
import { ALREADY_EXISTS, ABORTED, connect, rejects, withFirestore } from './fixture.ts';
import { startFirestore } from './server.ts';

const DATA_LOSS = 15;
const stateDir = () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'firestore-'));
  after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

/** Answers the first call of a method with a fault. */
const first = (method: string, fault: Fault) =>
  new Faults((call) => (call.method === method && call.n === 0 ? fault : undefined));

test('a lost answer: the client sees an error, the effect is there', async () => {
  await withFirestore({ faults: first('Commit', { kind: 'lose_answer', code: DATA_LOSS }) }, async (db) => {
    await rejects(db.doc('c/a').create({ n: 1 }), DATA_LOSS, /answer of Commit lost/);
    assert.deepEqual((await db.doc('c/a').get()).data(), { n: 1 });
    await rejects(db.doc('c/a').create({ n: 2 }), ALREADY_EXISTS);
  });
});

test('a lost answer of a transaction: the client runs it again and sees its own effect', async () => {
  await withFirestore({ faults: first('Commit', { kind: 'lose_answer', code: ABORTED }) }, async (db) => {
    const seen: unknown[] = [];
    await db.runTransaction(async (tx) => {
      const n = ((await tx.get(db.doc('c/a'))).data()?.['n'] as number | undefined) ?? 0;
      seen.push(n);
      tx.set(db.doc('c/a'), { n: n + 1 });
    });
    assert.deepEqual(seen, [0, 1]);
  });
});

test('a refused call has no effect', async () => {
  await withFirestore({ faults: first('Commit', { kind: 'refuse', code: DATA_LOSS }) }, async (db) => {
    await rejects(db.doc('c/a').create({ n: 1 }), DATA_LOSS, /refused/);
    assert.equal((await db.doc('c/a').get()).exists, false);
  });
});

test('every call passes the fault hook, with what it acts on', async () => {
  const calls: string[] = [];
  const hook = ({ method, resource }: Call) => void calls.push(`${method} ${resource}`);
  await withFirestore({ faults: new Faults(hook) }, async (db) => {
    await db.doc('c/a/k/b').set({});
    await db.doc('c/a/k/b').get();
    await db.collection('c/a/k').get();
    await db.collectionGroup('k').count().get();
    await db.collection('c').listDocuments();
    await db.doc('c/a').listCollections();
    await db.runTransaction(async (tx) => void (await tx.get(db.doc('c/a'))), { readOnly: true });
  });
  assert.deepEqual(calls, [
    'Commit c/a/k/b',
    'BatchGetDocuments c/a/k/b',
    'RunQuery c/a/k',
    'RunAggregationQuery k',
    'ListDocuments c',
    'ListCollectionIds c/a',
    'BatchGetDocuments c/a',
  ]);
});

test('the meter counts documents as they are billed', async () => {
  const meter = new Meter();
  await withFirestore({ meter }, async (db) => {
    const c = db.collection('c');
    await db.batch().set(c.doc('a'), {}).set(c.doc('b'), { n: 1 }).commit();
    assert.deepEqual(meter.snapshot(), { 'firestore.bytes': 20 + 32 + 20 + 32 + 2 + 8, 'firestore.writes': 2 });
    await db.getAll(c.doc('a'), c.doc('missing'));
    assert.equal(meter.get('firestore.reads'), 2);
    await c.get();
    assert.equal(meter.get('firestore.reads'), 4);
    await c.where('n', '==', 7).get();
    assert.equal(meter.get('firestore.reads'), 5);
    await c.offset(1).get();
    assert.equal(meter.get('firestore.reads'), 7);
    await c.count().get();
    assert.equal(meter.get('firestore.reads'), 8);
    await c.doc('a').delete();
    assert.deepEqual([meter.get('firestore.deletes'), meter.get('firestore.writes')], [1, 2]);
  });
});

test('databases are spaces of their own', async () => {
  const server = await startFirestore();
  const [one, two] = [connect(server), connect(server, 'other')];
  await one.doc('c/a').set({ n: 1 });
  assert.equal((await two.doc('c/a').get()).exists, false);
  await two.doc('c/a').set({ n: 2 });
  assert.deepEqual((await one.doc('c/a').get()).data(), { n: 1 });
  await Promise.all([one.terminate(), two.terminate()]);
  await server.stop();
});

test('time-to-live deletes what has expired when it is swept, and nothing else', async () => {
  const meter = new Meter();
  let now = 1e15;
  await withFirestore({ ttl: { k: 'expire_at' }, now: () => now, meter }, async (db, server) => {
    const at = (seconds: number) => ({ expire_at: Timestamp.fromMillis(1e12 + seconds * 1000) });
    await db.doc('k/a').set(at(10));
    await db.doc('x/y/k/b').set(at(10));
    await db.doc('k/a/child/c').set(at(0));
    await db.doc('k/late').set(at(30));
    await db.doc('k/none').set({ expire_at: 5 });
    assert.equal(server.sweepExpired(), 0);
    now += 20e6;
    assert.equal((await db.doc('k/a').get()).exists, true);
    assert.equal(server.sweepExpired(), 2);
    assert.equal((await db.collection('k').get()).docs.map(({ id }) => id).join(), 'late,none');
    assert.equal((await db.doc('k/a/child/c').get()).exists, true);
    assert.equal(server.sweepExpired(1e15 + 31e6), 1);
    assert.equal(meter.get('firestore.deletes'), 3);
  });
});

test('a restart keeps documents, deletes and the order of update times', async () => {
  const dir = stateDir();
  const data = { t: Timestamp.fromMillis(5), b: Buffer.from([1, 2]), l: [1, { x: null }], e: {} };
  const written = await withFirestore({ stateDir: dir }, async (db) => {
    await db.doc('c/gone').set({});
    await db.doc('c/gone').delete();
    return db.doc('c/a').set(data);
  });
  const size = statSync(path.join(dir, 'firestore.journal')).size;
  // A commit that was cut off while it was written, and a clock that went back.
  const torn = [
    Buffer.from([200, 0, 0, 0, 1, 2, 3, 4, 5]),
    Buffer.from([8, 0, 0, 0, 1, 2, 3, 4, ...Array<number>(8).fill(127)]),
  ];
  for (const tail of torn) {
    appendFileSync(path.join(dir, 'firestore.journal'), tail);
    await withFirestore({ stateDir: dir, now: () => 1e15 }, async (db) => {
      assert.ok(statSync(path.join(dir, 'firestore.journal')).size < size);
      const { docs } = await db.collection('c').get();
      assert.deepEqual(
        docs.map((d) => [d.id, d.data()]),
        [['a', data]],
      );
      assert.ok(docs[0]!.updateTime.isEqual(written.writeTime));
      const { writeTime } = await db.doc('d/b').set({});
      assert.ok(writeTime.valueOf() > written.writeTime.valueOf());
      await db.doc('d/b').delete();
    });
  }
});

test('an acknowledged commit survives kill -9', async () => {
  const dir = stateDir();
  const script = `
    import { startFirestore } from ${JSON.stringify(new URL('./server.ts', import.meta.url).href)};
    console.log((await startFirestore({ stateDir: ${JSON.stringify(dir)} })).address);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const address = String((await child.stdout.take(1).toArray())[0]).trim();
  const db = connect({ address, sweepExpired: () => 0, stop: async () => undefined });
  const acknowledged: string[] = [];
  const writes = Array.from({ length: 200 }, async (_, i) => {
    await db.doc(`c/d${i}`).set({ i });
    acknowledged.push(`d${i}`);
    if (acknowledged.length === 50) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('exit', resolve));
  await db.terminate();
  await Promise.allSettled(writes);
  await withFirestore({ stateDir: dir }, async (again) => {
    const kept = new Set((await again.collection('c').get()).docs.map(({ id }) => id));
    assert.ok(acknowledged.length >= 50);
    assert.deepEqual(
      acknowledged.filter((id) => !kept.has(id)),
      [],
    );
  });
});
