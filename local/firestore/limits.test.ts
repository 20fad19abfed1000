import { FieldPath, FieldValue, type DocumentData, type Firestore } from '@google-cloud/firestore';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INVALID_ARGUMENT, UNIMPLEMENTED, rejects, shared } from './fixture.ts';
import { checkDocumentName, parseFieldPath } from './paths.ts';
import { documentSize, nameSize } from './size.ts';
import { transformed } from './transforms.ts';
import { storable } from './validate.ts';
import type { Value } from './wire.ts';

const it = await shared();
const DB = 'projects/p/databases/d';
const text = (stringValue: string): Value => ({ valueType: 'stringValue', stringValue });
const integer = (integerValue: string): Value => ({ valueType: 'integerValue', integerValue });

test('sizes follow the published rules', () => {
  const name = `${DB}/documents/users/jeff/tasks/my_task_id`;
  assert.equal(nameSize(name), 6 + 5 + 6 + 11 + 16);
  const fields = {
    type: text('Personal'),
    done: { valueType: 'booleanValue', booleanValue: false } as const,
    priority: integer('1'),
    description: text('Learn Cloud Firestore'),
  };
  assert.equal(documentSize(name, fields), 44 + (5 + 9) + (5 + 1) + (9 + 8) + (12 + 22) + 32);
  assert.equal(documentSize(`${DB}/documents/c/d`, { ä: text('ü') }), 20 + 3 + 3 + 32);
});

test('a document of 1 MiB is accepted, a byte more is not', async () => {
  const d = it.fresh().doc('a');
  const room = 1_048_576 - (d.parent.id.length + 1 + 2 + 16) - 32 - 2 - 1;
  await d.set({ s: 'x'.repeat(room) });
  await rejects(d.set({ s: 'x'.repeat(room + 1) }), INVALID_ARGUMENT, /1,048,576/);
  await rejects(d.update({ t: 1 }), INVALID_ARGUMENT, /1,048,576/);
  assert.equal(((await d.get()).data()!['s'] as string).length, room);
});

test('a commit request of more than 10 MiB is refused', async () => {
  const c = it.fresh();
  const batch = it.db.batch();
  for (let i = 0; i < 11; i++) batch.set(c.doc(`d${i}`), { s: 'x'.repeat(1_000_000) });
  await rejects(batch.commit(), INVALID_ARGUMENT, /10485760 bytes/);
  assert.equal((await c.get()).size, 0);
});

test('document ids', async () => {
  const c = it.fresh();
  for (const id of ['__bad__', '.', '..', 'x'.repeat(1501), 'ü'.repeat(751)]) {
    await rejects(c.doc(id).set({}), INVALID_ARGUMENT);
  }
  for (const id of ['__a', '...', 'x'.repeat(1500), 'ü'.repeat(750), ' ', '"`']) await c.doc(id).set({});
  assert.equal((await c.get()).size, 6);
});

test('document names', () => {
  const check = (path: string) => () => checkDocumentName(`${DB}/documents/${path}`, DB);
  check('a/b')();
  for (const bad of ['a', 'a/b/c', 'a//', '/a', `${'x'.repeat(1400)}/`.repeat(4) + 'y'.repeat(600)]) {
    assert.throws(check(bad), { code: INVALID_ARGUMENT });
  }
  assert.throws(() => checkDocumentName('projects/p/databases/e/documents/a/b', DB), { code: INVALID_ARGUMENT });
});

test('field paths and names', async () => {
  assert.deepEqual(parseFieldPath('a.`b.c`.`d\\`e`').segments, ['a', 'b.c', 'd`e']);
  for (const bad of ['', 'a.', '.a', 'a..b', '1a', 'a-b', '``', '`a', '__x__', 'a.__x__', 'x'.repeat(1501)]) {
    assert.throws(() => parseFieldPath(bad), { code: INVALID_ARGUMENT }, bad);
  }
  const d = it.fresh().doc('a');
  assert.throws(() => storable({ '': text('x') }), { code: INVALID_ARGUMENT });
  await rejects(d.set({ a: { __x__: 1 } }), INVALID_ARGUMENT, /reserved/);
  await d.set({ ok: 1 });
  await rejects(d.update(new FieldPath('x'.repeat(1501)), 1), INVALID_ARGUMENT);
});

test('nesting: 20 levels, and no array directly in an array', () => {
  const nested = (levels: number): Value =>
    levels === 0 ? text('x') : { valueType: 'mapValue', mapValue: { fields: { a: nested(levels - 1) } } };
  storable({ a: nested(20) });
  assert.throws(() => storable({ a: nested(21) }), { code: INVALID_ARGUMENT });
  const array = (values: Value[]): Value => ({ valueType: 'arrayValue', arrayValue: { values } });
  storable({ a: array([{ valueType: 'mapValue', mapValue: { fields: { b: array([]) } } }]) });
  assert.throws(() => storable({ a: array([array([])]) }), { code: INVALID_ARGUMENT });
});

test('stored bytes do not hold on to the request that brought them', () => {
  const request = Buffer.alloc(1000);
  const { a } = storable({ a: { valueType: 'bytesValue', bytesValue: request.subarray(0, 4) } });
  request.fill(1);
  assert.deepEqual(a, { valueType: 'bytesValue', bytesValue: Buffer.alloc(4) });
});

test('integers saturate at the bounds of int64', () => {
  const by = (increment: Value) => ({ fieldPath: 'n', transformType: 'increment', increment }) as const;
  const [max, min] = ['9223372036854775807', '-9223372036854775808'];
  assert.deepEqual(transformed(by(integer('5')), integer('9223372036854775805'), 0), integer(max));
  assert.deepEqual(transformed(by(integer('-5')), integer('-9223372036854775805'), 0), integer(min));
  assert.deepEqual(transformed(by(integer('2')), integer('9007199254740993'), 0), integer('9007199254740995'));
});

test('maximum and minimum keep the stored value when they are equal', () => {
  const double: Value = { valueType: 'doubleValue', doubleValue: 3 };
  const max = { fieldPath: 'n', transformType: 'maximum', maximum: integer('3') } as const;
  const min = { fieldPath: 'n', transformType: 'minimum', minimum: integer('2') } as const;
  assert.deepEqual(transformed(max, double, 0), double);
  assert.deepEqual(transformed(max, integer('2'), 0), integer('3'));
  assert.deepEqual(transformed(max, text('x'), 0), integer('3'));
  assert.deepEqual(transformed(min, double, 0), integer('2'));
});

test('at most 500 transforms of one document', async () => {
  const stamps = (n: number): DocumentData =>
    Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, FieldValue.serverTimestamp()]));
  const d = it.fresh().doc('a');
  await d.set(stamps(500));
  await rejects(d.set(stamps(501)), INVALID_ARGUMENT, /500 transforms/);
});

test('what is not supported says so', async () => {
  await rejects(
    it
      .fresh()
      .doc('a')
      .set({ v: FieldValue.vector([1]) }),
    UNIMPLEMENTED,
    /vector/,
  );
  const partitions = async (db: Firestore) => {
    for await (const _ of db.collectionGroup('x').getPartitions(3)) assert.fail();
  };
  await rejects(partitions(it.db), UNIMPLEMENTED, /PartitionQuery is not implemented/);
});
