import { AggregateField, FieldPath, Filter, Timestamp, type Query } from '@google-cloud/firestore';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INVALID_ARGUMENT, UNIMPLEMENTED, shared } from './fixture.ts';
import { compileQuery } from './query.ts';
import type { StructuredQuery, Value } from './wire.ts';

const it = await shared();
const ids = async (query: Query): Promise<string> => (await query.get()).docs.map(({ id }) => id).join();
const rows = () => it.db.collection('rows');
const T = (second: number) => Timestamp.fromMillis(1e12 + second * 1000);

{
  const batch = it.db.batch();
  for (let i = 0; i < 10; i++) {
    const tags = [`t${i % 2}`, 'all'];
    batch.set(rows().doc(`d${i}`), { i, g: i % 3, s: `s${i}`, tags, m: { k: i }, at: T(i) });
  }
  await batch.commit();
}

test('equality, ranges and their combinations', async () => {
  assert.equal(await ids(rows().where('g', '==', 1)), 'd1,d4,d7');
  assert.equal(await ids(rows().where('i', '>', 2).where('i', '<=', 5).orderBy('i', 'desc')), 'd5,d4,d3');
  assert.equal(await ids(rows().where('g', '==', 0).where('i', '>=', 3)), 'd3,d6,d9');
  assert.equal(await ids(rows().where('at', '<=', T(2)).orderBy('at')), 'd0,d1,d2');
  assert.equal(await ids(rows().where('m.k', '==', 4)), 'd4');
  assert.equal(await ids(rows().where('i', '>', 2).where('g', '<', 1)), 'd3,d6,d9');
});

test('in, not-in, !=, array-contains and array-contains-any', async () => {
  assert.equal(await ids(rows().where('i', 'in', [1, 5, 77])), 'd1,d5');
  assert.equal((await rows().where('i', 'not-in', [1, 5]).get()).size, 8);
  assert.equal((await rows().where('i', '!=', 1).get()).size, 9);
  assert.equal(await ids(rows().where('tags', 'array-contains', 't1')), 'd1,d3,d5,d7,d9');
  assert.equal((await rows().where('tags', 'array-contains-any', ['t1', 't0']).get()).size, 10);
});

test('or, and and within or', async () => {
  const [one, two, four] = [1, 2, 4].map((i) => Filter.where('i', '==', i)) as [Filter, Filter, Filter];
  assert.equal(await ids(rows().where(Filter.or(one, two))), 'd1,d2');
  assert.equal(await ids(rows().where(Filter.and(Filter.where('g', '==', 1), Filter.or(one, two, four)))), 'd1,d4');
});

test('null, NaN and absent fields', async () => {
  const c = it.fresh();
  await c.doc('a').set({ x: null });
  await c.doc('b').set({ x: NaN });
  await c.doc('c').set({ x: 1 });
  await c.doc('d').set({ y: 1 });
  assert.equal(await ids(c.where('x', '==', null)), 'a');
  assert.equal(await ids(c.where('x', '==', NaN)), 'b');
  assert.equal(await ids(c.where('x', '!=', null)), 'b,c');
  assert.equal(await ids(c.where('x', '!=', 7)), 'b,c');
  assert.equal(await ids(c.orderBy('x')), 'a,b,c');
});

test('values of different types have one order, and ranges stay within a type', async () => {
  const c = it.fresh();
  const values = [
    null,
    false,
    true,
    NaN,
    -1,
    0.5,
    1,
    T(0),
    T(1),
    'a',
    'b',
    Buffer.from('a'),
    c.doc('x'),
    [1],
    [1, 2],
    {},
    { a: 1 },
  ];
  await Promise.all(values.map((x, i) => c.doc(String.fromCharCode(97 + i)).set({ x })));
  const expected = values.map((_, i) => String.fromCharCode(97 + i));
  assert.equal(await ids(c.orderBy('x')), expected.join());
  assert.equal(await ids(c.orderBy('x', 'desc')), expected.toReversed().join());
  assert.equal(await ids(c.where('x', '>=', T(0))), 'h,i');
  assert.equal(await ids(c.where('x', '<', 'b')), 'j');
});

test('order, limit, offset, limitToLast; names decide between equals', async () => {
  assert.equal(await ids(rows().orderBy('i').limit(3)), 'd0,d1,d2');
  assert.equal(await ids(rows().orderBy('i').limitToLast(2)), 'd8,d9');
  assert.equal(await ids(rows().orderBy('i').offset(8)), 'd8,d9');
  assert.equal(await ids(rows().orderBy('g', 'desc').limit(4)), 'd8,d5,d2,d7');
  const c = it.fresh();
  for (const id of ['b', 'a', 'Z', '\u{ff5e}', '\u{1f600}']) await c.doc(id).set({});
  assert.equal(await ids(c), 'Z,a,b,\u{ff5e},\u{1f600}');
});

test('cursors by value, by snapshot and by name', async () => {
  assert.equal(await ids(rows().orderBy('i').startAfter(6)), 'd7,d8,d9');
  assert.equal(await ids(rows().orderBy('i').startAt(2).endBefore(5)), 'd2,d3,d4');
  assert.equal(await ids(rows().orderBy('i', 'desc').startAt(2).endAt(1)), 'd2,d1');
  const page = await rows().orderBy('g').limit(4).get();
  assert.equal(await ids(rows().orderBy('g').startAfter(page.docs[3]!).limit(4)), 'd1,d4,d7,d2');
  assert.equal(await ids(rows().orderBy(FieldPath.documentId()).startAfter('d7')), 'd8,d9');
  assert.equal(await ids(rows().where(FieldPath.documentId(), 'in', ['d3', 'd7'])), 'd3,d7');
  assert.equal(await ids(rows().where(FieldPath.documentId(), '>', 'd7')), 'd8,d9');
});

test('a projection returns the named fields only', async () => {
  const { docs } = await rows().where('i', '==', 2).select('s', 'm.k', 'none').get();
  assert.deepEqual(docs[0]!.data(), { s: 's2', m: { k: 2 } });
});

test('count, sum and average', async () => {
  assert.equal((await rows().where('g', '==', 1).count().get()).data().count, 3);
  assert.equal((await rows().limit(4).count().get()).data().count, 4);
  const spec = { s: AggregateField.sum('i'), a: AggregateField.average('i'), n: AggregateField.count() };
  assert.deepEqual((await rows().aggregate(spec).get()).data(), { s: 45, a: 4.5, n: 10 });
  assert.deepEqual((await it.fresh().aggregate(spec).get()).data(), { s: 0, a: null, n: 0 });
  const text = await rows()
    .aggregate({ s: AggregateField.sum('s') })
    .get();
  assert.deepEqual(text.data(), { s: 0 });
});

test('a collection group holds the collections of one id below any parent', async () => {
  const root = it.fresh();
  await root.doc('p1').collection('grp').doc('a').set({ v: 1 });
  assert.equal(await ids(it.db.collectionGroup('grp')), 'a');
  await root.doc('p2').collection('grp').doc('b').set({ v: 2 });
  await root.doc('p2').collection('other').doc('c').set({ v: 2 });
  await it.db.collection('grp').doc('d').set({ v: 3 });
  assert.equal(await ids(it.db.collectionGroup('grp').where('v', '>', 0)), 'a,b,d');
  await root.doc('p1').collection('grp').doc('a').delete();
  assert.equal(await ids(it.db.collectionGroup('grp').orderBy('v', 'desc')), 'd,b');
  assert.equal((await it.db.collectionGroup('grp').count().get()).data().count, 2);
});

// Not over the wire: the client repeats a streamed call that fails at once two times, after 2 s and 4 s.
test('what Firestore refuses, and what is not supported', () => {
  const compile = (change: Partial<StructuredQuery>) => () =>
    compileQuery('projects/p/databases/d/documents', {
      select: null,
      from: [{ collectionId: 'c', allDescendants: false }],
      where: null,
      orderBy: [],
      startAt: null,
      endAt: null,
      offset: 0,
      limit: null,
      findNearest: null,
      ...change,
    });
  const where = (op: string, value: Value) =>
    compile({ where: { fieldFilter: { field: { fieldPath: 'i' }, op, value } } });
  const list = (length: number): Value => {
    const values = Array.from({ length }, (): Value => ({ valueType: 'booleanValue', booleanValue: true }));
    return { valueType: 'arrayValue', arrayValue: { values } };
  };
  where('IN', list(30))();
  where('NOT_IN', list(10))();
  const refused = [
    where('IN', list(31)),
    where('IN', list(0)),
    where('NOT_IN', list(11)),
    where('LIKE', list(1)),
    compile({ from: [] }),
    compile({ from: [{ collectionId: '', allDescendants: false }] }),
    compile({ limit: { value: -1 } }),
    compile({ offset: -1 }),
    compile({ startAt: { values: [list(1), list(1)], before: true } }),
    compile({ where: { compositeFilter: { op: 'AND', filters: [] } } }),
  ];
  for (const query of refused) assert.throws(query, { code: INVALID_ARGUMENT });
  assert.throws(compile({ findNearest: {} }), { code: UNIMPLEMENTED, message: /Vector search is not implemented/ });
});
