import { FieldPath, FieldValue, GeoPoint, Timestamp } from '@google-cloud/firestore';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALREADY_EXISTS, FAILED_PRECONDITION, NOT_FOUND, rejects, shared, withFirestore } from './fixture.ts';

const it = await shared();
const doc = () => it.fresh().doc('a');

test('every type of value comes back as it was written', async () => {
  const d = doc();
  const data = {
    text: 'x',
    integer: Number.MAX_SAFE_INTEGER,
    double: 1.5,
    nan: NaN,
    yes: true,
    nothing: null,
    time: new Timestamp(1_700_000_000, 123_456_000),
    list: [1, 'a', { k: [1] }],
    map: { n: { o: 2 }, empty: {} },
    bytes: Buffer.from('hi'),
    ref: d,
    point: new GeoPoint(1, -2),
    none: [],
  };
  await d.set(data);
  const { ref, ...rest } = (await d.get()).data()!;
  const { ref: _ref, ...expected } = data;
  assert.deepEqual(rest, expected);
  assert.equal((ref as typeof d).path, d.path);
});

test('timestamps are cut to microseconds', async () => {
  const d = doc();
  await d.set({ t: new Timestamp(1, 123_456_789) });
  assert.equal(((await d.get()).data()!['t'] as Timestamp).nanoseconds, 123_456_000);
});

test('a document that is not there', async () => {
  assert.equal((await doc().get()).exists, false);
  await rejects(doc().update({ a: 1 }), NOT_FOUND);
  await rejects(doc().delete({ exists: true }), NOT_FOUND);
  await doc().delete();
});

test('create succeeds once', async () => {
  const d = doc();
  const results = await Promise.allSettled(Array.from({ length: 50 }, (_, i) => d.create({ i })));
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  const kept = (await d.get()).data();
  await rejects(d.create({ i: -1 }), ALREADY_EXISTS);
  assert.deepEqual((await d.get()).data(), kept);
});

test('set replaces, merges, or merges named fields', async () => {
  const d = doc();
  await d.set({ a: 1, b: 2 });
  await d.set({ a: 3, m: { x: 1 } });
  assert.deepEqual((await d.get()).data(), { a: 3, m: { x: 1 } });
  await d.set({ b: 2, m: { y: 2 } }, { merge: true });
  assert.deepEqual((await d.get()).data(), { a: 3, m: { x: 1, y: 2 }, b: 2 });
  await d.set({ a: 9, b: 9 }, { mergeFields: ['a'] });
  assert.deepEqual((await d.get()).data(), { a: 9, m: { x: 1, y: 2 }, b: 2 });
});

test('update changes paths, quoted ones too, and deletes fields', async () => {
  const d = doc();
  await d.set({ m: { x: 1, y: 1 }, 'a.b': 1, gone: 1, '`q\\': 1 });
  await d.update({ 'm.x': 5, gone: FieldValue.delete() });
  await d.update(new FieldPath('a.b'), 7, new FieldPath('`q\\'), 8);
  assert.deepEqual((await d.get()).data(), { m: { x: 5, y: 1 }, 'a.b': 7, '`q\\': 8 });
  await d.set({ m: { x: FieldValue.delete() } }, { merge: true });
  assert.deepEqual((await d.get()).data()!['m'], { y: 1 });
});

test('increments: missing, nested, double, concurrent', async () => {
  const d = doc();
  await d.set({ n: FieldValue.increment(5), m: { n: 1 } }, { merge: true });
  await d.update({ 'm.n': FieldValue.increment(2), n: FieldValue.increment(0.5) });
  const data = (await d.get()).data()!;
  assert.deepEqual([data['n'], data['m']], [5.5, { n: 3 }]);
  await d.set({ n: 0 });
  await Promise.all(Array.from({ length: 200 }, () => d.update({ n: FieldValue.increment(1) })));
  assert.equal((await d.get()).data()!['n'], 200);
});

test('array transforms compare by value and keep order', async () => {
  const d = doc();
  await d.set({ a: [1, { k: 1 }, 2, 1] });
  await d.update({ a: FieldValue.arrayUnion({ k: 1 }, 3, 3), b: FieldValue.arrayUnion('x') });
  assert.deepEqual((await d.get()).data(), { a: [1, { k: 1 }, 2, 1, 3], b: ['x'] });
  await d.update({ a: FieldValue.arrayRemove(1), b: FieldValue.arrayRemove('y') });
  assert.deepEqual((await d.get()).data(), { a: [{ k: 1 }, 2, 3], b: ['x'] });
});

test('the server time is that of the commit, in milliseconds, the same in every field', async () => {
  await withFirestore({ now: () => 1_700_000_000_123_456 }, async (db) => {
    const d = db.doc('c/a');
    const { writeTime } = await d.create({ t: FieldValue.serverTimestamp(), n: FieldValue.increment(1), k: 1 });
    await db
      .batch()
      .update(d, { u: FieldValue.serverTimestamp(), l: FieldValue.arrayUnion(1) })
      .commit();
    const data = (await d.get()).data()!;
    assert.deepEqual(data['t'], new Timestamp(1_700_000_000, 123_000_000));
    assert.deepEqual([data['u'], data['n'], data['k'], data['l']], [data['t'], 1, 1, [1]]);
    assert.deepEqual(writeTime, new Timestamp(1_700_000_000, 123_456_000));
  });
});

test('update times increase strictly, even when the clock stands still or goes back', async () => {
  let now = 2_000_000_000_000;
  await withFirestore({ now: () => now }, async (db) => {
    const d = db.doc('c/a');
    let last = await d.set({ i: -1 });
    for (let i = 0; i < 5; i++) {
      now -= 1000;
      const next = await d.set({ i });
      assert.ok(next.writeTime.valueOf() > last.writeTime.valueOf());
      assert.ok((await d.get()).updateTime!.isEqual(next.writeTime));
      last = next;
    }
  });
});

test('a write may demand the update time that was read', async () => {
  const d = doc();
  const first = await d.set({ a: 1 });
  const second = await d.update({ a: 2 }, { lastUpdateTime: first.writeTime });
  await rejects(d.update({ a: 3 }, { lastUpdateTime: first.writeTime }), FAILED_PRECONDITION);
  await rejects(d.delete({ lastUpdateTime: first.writeTime }), FAILED_PRECONDITION);
  assert.equal((await d.get()).data()!['a'], 2);
  await d.delete({ lastUpdateTime: second.writeTime });
  await rejects(d.update({ a: 3 }, { lastUpdateTime: second.writeTime }), FAILED_PRECONDITION);
});

test('a batch is written whole or not at all, and each write sees those before', async () => {
  const c = it.fresh();
  await c.doc('there').set({ a: 1 });
  const failing = it.db.batch().set(c.doc('new'), { a: 1 }).delete(c.doc('there')).create(c.doc('new'), { a: 2 });
  await rejects(failing.commit(), ALREADY_EXISTS);
  assert.deepEqual(
    (await c.get()).docs.map(({ id }) => id),
    ['there'],
  );
  await it.db.batch().set(c.doc('new'), { a: 1 }).update(c.doc('new'), { b: 2 }).commit();
  assert.deepEqual((await c.doc('new').get()).data(), { a: 1, b: 2 });
});

test('getAll keeps the order, tells the missing and takes a field mask', async () => {
  const c = it.fresh();
  await c.doc('a').set({ v: 1, w: 2 });
  await c.doc('b').set({ v: 2 });
  const read = await it.db.getAll(c.doc('b'), c.doc('zz'), c.doc('a'), { fieldMask: ['v'] });
  assert.deepEqual(
    read.map((snapshot) => snapshot.data()),
    [{ v: 2 }, undefined, { v: 1 }],
  );
});

test('BulkWriter: every write has its own fate', async () => {
  const c = it.fresh();
  await c.doc('x').set({ a: 1 });
  const writer = it.db.bulkWriter();
  const codes: number[] = [];
  writer.onWriteError(({ code }) => (codes.push(code), false));
  const fates = [writer.create(c.doc('x'), { a: 2 }), writer.create(c.doc('y'), { a: 2 })];
  for (let i = 0; i < 300; i++) fates.push(writer.set(c.doc(`b${i}`), { i }));
  const settled = Promise.allSettled(fates);
  await writer.close();
  assert.equal((await settled).filter(({ status }) => status === 'rejected').length, 1);
  assert.deepEqual(codes, [ALREADY_EXISTS]);
  assert.equal((await c.count().get()).data().count, 302);
});

test('subcollections stay when a parent is missing, and are listed', async () => {
  const c = it.fresh();
  await c.doc('p1').collection('kids').doc('a').set({ v: 1 });
  await c.doc('p2').collection('kids').doc('b').set({ v: 2 });
  await c.doc('p2').set({ x: 1 });
  assert.deepEqual(
    (await c.listDocuments()).map(({ id }) => id),
    ['p1', 'p2'],
  );
  assert.deepEqual(
    (await c.get()).docs.map(({ id }) => id),
    ['p2'],
  );
  assert.deepEqual(
    (await c.doc('p1').listCollections()).map(({ id }) => id),
    ['kids'],
  );
  assert.ok((await it.db.listCollections()).some(({ id }) => id === c.id));
  await it.db.recursiveDelete(c);
  assert.equal((await c.doc('p1').collection('kids').get()).size, 0);
});

test('listeners see documents come into a query and leave it', async () => {
  const c = it.fresh();
  const steps = [
    () => c.doc('a').set({ on: true }),
    () => c.doc('b').set({ on: true }),
    () => c.doc('a').set({ on: false }),
    () => c.doc('b').delete(),
  ];
  const seen: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const stop = c.where('on', '==', true).onSnapshot((snapshot) => {
      seen.push(snapshot.docs.map(({ id }) => id).join());
      const step = steps.shift();
      if (step) step().catch(reject);
      else resolve(stop());
    }, reject);
  });
  assert.deepEqual(seen, ['', 'a', 'a,b', 'b', '']);
});

test('a listener sees a document appear', async () => {
  const d = doc();
  const data = await new Promise((resolve, reject) => {
    const stop = d.onSnapshot((snapshot) => {
      if (!snapshot.exists) d.set({ a: 1 }).catch(reject);
      else resolve((stop(), snapshot.data()));
    }, reject);
  });
  assert.deepEqual(data, { a: 1 });
});
