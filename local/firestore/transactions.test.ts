import type { DocumentReference, Firestore } from '@google-cloud/firestore';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ABORTED, ALREADY_EXISTS, INVALID_ARGUMENT, rejects, shared, withFirestore } from './fixture.ts';

const it = await shared();

async function increment(db: Firestore, d: DocumentReference, maxAttempts: number): Promise<void> {
  await db.runTransaction(
    async (tx) => {
      const n = (await tx.get(d)).data()!['n'] as number;
      tx.update(d, { n: n + 1 });
    },
    { maxAttempts },
  );
}

for (const k of [20, 100]) {
  test(`${k} concurrent increments through transactions lose none`, async () => {
    const d = it.fresh().doc('a');
    await d.set({ n: 0 });
    await Promise.all(Array.from({ length: k }, () => increment(it.db, d, 100)));
    assert.equal((await d.get()).data()!['n'], k);
  });
}

test('without retries every commit counts and every conflict is ABORTED', async () => {
  const d = it.fresh().doc('a');
  await d.set({ n: 0 });
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => increment(it.db, d, 1)));
  const committed = results.filter(({ status }) => status === 'fulfilled').length;
  assert.equal((await d.get()).data()!['n'], committed);
  for (const result of results) {
    if (result.status === 'rejected') assert.equal((result.reason as { code: number }).code, ABORTED);
  }
});

test('a write from outside between read and commit is seen by the next attempt', async () => {
  const d = it.fresh().doc('a');
  await d.set({ n: 0 });
  let attempts = 0;
  const returned = await it.db.runTransaction(async (tx) => {
    const n = (await tx.get(d)).data()!['n'] as number;
    if (attempts++ === 0) await d.set({ n: 100 });
    tx.update(d, { n: n + 1 });
    return n;
  });
  assert.deepEqual([(await d.get()).data()!['n'], attempts, returned], [101, 2, 100]);
});

test('a document that was missing, then made, is a conflict', async () => {
  const c = it.fresh();
  const attempt = it.db.runTransaction(
    async (tx) => {
      assert.equal((await tx.get(c.doc('a'))).exists, false);
      await c.doc('a').set({ other: true });
      tx.set(c.doc('b'), {});
    },
    { maxAttempts: 1 },
  );
  await rejects(attempt, ABORTED, /contention/);
  assert.equal((await c.doc('b').get()).exists, false);
});

test('a query is part of what a transaction read: no phantoms', async () => {
  const c = it.fresh();
  await c.doc('seed').set({ k: 0 });
  const claim = (i: number) =>
    it.db.runTransaction(
      async (tx) => {
        if ((await tx.get(c.where('k', '==', 1))).empty) tx.create(c.doc(`w${i}`), { k: 1 });
      },
      { maxAttempts: 50 },
    );
  await Promise.all(Array.from({ length: 10 }, (_, i) => claim(i)));
  assert.equal((await c.where('k', '==', 1).get()).size, 1);
});

test('a change that a query does not see is no conflict', async () => {
  const c = it.fresh();
  await c.doc('a').set({ k: 1, at: 1 });
  let attempts = 0;
  await it.db.runTransaction(async (tx) => {
    attempts++;
    await tx.get(c.where('k', '==', 1).orderBy('at').limit(1));
    await c.doc(`other${attempts}`).set({ k: 2, at: 0 });
    await c.doc(`later${attempts}`).set({ k: 1, at: 9 });
    tx.set(c.doc('done'), {});
  });
  assert.equal(attempts, 1);
});

test('an aggregation is part of what a transaction read', async () => {
  const c = it.fresh();
  const attempt = it.db.runTransaction(
    async (tx) => {
      assert.equal((await tx.get(c.count())).data().count, 0);
      await c.doc('new').set({});
      tx.set(c.doc('total'), { n: 0 });
    },
    { maxAttempts: 1 },
  );
  await rejects(attempt, ABORTED);
});

test('all reads of a transaction show one state', async () => {
  const c = it.fresh();
  await c.doc('a').set({ v: 1 });
  await c.doc('b').set({ v: 1 });
  const read = await it.db.runTransaction(
    async (tx) => {
      const a = await tx.get(c.doc('a'));
      await it.db.batch().set(c.doc('a'), { v: 2 }).set(c.doc('b'), { v: 2 }).set(c.doc('c'), { v: 2 }).commit();
      const b = await tx.get(c.doc('b'));
      const all = await tx.get(c.orderBy('v'));
      return [a.data(), b.data(), ...all.docs.map((d) => d.data())];
    },
    { readOnly: true },
  );
  assert.deepEqual(read, Array(4).fill({ v: 1 }));
});

test('a precondition that fails fails the transaction, without another attempt', async () => {
  const d = it.fresh().doc('a');
  await d.set({ n: 1 });
  let attempts = 0;
  const attempt = it.db.runTransaction(async (tx) => {
    attempts++;
    tx.create(d, { n: 2 });
  });
  await rejects(attempt, ALREADY_EXISTS);
  assert.equal(attempts, 1);
});

test('an exception in the callback leaves nothing', async () => {
  const d = it.fresh().doc('a');
  const attempt = it.db.runTransaction(async (tx) => {
    tx.set(d, { a: 1 });
    throw new Error('boom');
  });
  await assert.rejects(attempt, /boom/);
  assert.equal((await d.get()).exists, false);
});

test('getAll in a transaction', async () => {
  const c = it.fresh();
  await c.doc('a').set({ v: 1 });
  const found = await it.db.runTransaction(async (tx) => tx.getAll(c.doc('a'), c.doc('b')));
  assert.deepEqual(
    found.map(({ exists }) => exists),
    [true, false],
  );
});

for (const [what, idle] of [
  ['60 s without a call', [61]],
  ['270 s in all', [59, 59, 59, 59, 59]],
] as const) {
  test(`a transaction expires after ${what}; the client runs it again`, async () => {
    let now = 1.7e15;
    await withFirestore({ now: () => now }, async (db) => {
      const d = db.doc('c/a');
      const slow = async (attempts: number) => {
        let n = 0;
        await db.runTransaction(
          async (tx) => {
            await tx.get(d);
            if (n++ === 0) {
              for (const [i, seconds] of idle.entries()) {
                now += seconds * 1e6;
                if (i < idle.length - 1) await tx.get(d);
              }
            }
            tx.set(d, { n });
          },
          { maxAttempts: attempts },
        );
      };
      await rejects(slow(1), INVALID_ARGUMENT, /transaction has expired/);
      assert.equal((await d.get()).exists, false);
      await slow(2);
      assert.deepEqual((await d.get()).data(), { n: 2 });
    });
  });
}
