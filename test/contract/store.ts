import assert from 'node:assert/strict';
import { AmbiguousError, TransientError } from '../../functions/core/errors.ts';
import type { Document, Store } from '../../functions/ports.ts';
import { failure, fresh, observe, type Contract, type World } from './world.ts';

const put = (store: Store, path: string, document: Document): Promise<void> =>
  store.transaction(async (tx) => tx.set(path, document));

async function read(store: Store, path: string): Promise<Document | null> {
  const found = await store.get(path);
  // Bytes come in a class of the client's.
  return found === null ? null : Object.fromEntries(Object.entries(found).map(([name, value]) => [name, value instanceof Uint8Array ? new Uint8Array(value) : value])); // prettier-ignore
}

/** Adds one in a transaction of its own, again and again until it is committed. */
async function increment(store: Store, path: string): Promise<void> {
  for (;;) {
    try {
      return await store.transaction(async (tx) => {
        const [document] = await tx.get([path]);
        tx.set(path, { n: Number(document?.['n'] ?? 0) + 1 });
      });
    } catch (error) {
      assert.ok(error instanceof TransientError && error.code === 'contention', String(error));
    }
  }
}

export const STORE: Contract = {
  'a document comes back as it was, is replaced whole, and is gone when it is deleted': async ({ store }) => {
    const path = `${fresh()}/4f2a-%2F`;
    const document = { text: 'é😀', bytes: new Uint8Array([0, 255]), micros: 1_704_448_800_123_456, none: null, list: [1, true, { a: 'b' }], half: 0.5, expire_at: 1_704_448_800_123_457 }; // prettier-ignore
    await put(store, path, document);
    assert.deepEqual(await read(store, path), document);
    await put(store, path, { n: 1 });
    assert.deepEqual(await read(store, path), { n: 1 });
    await store.transaction(async (tx) => tx.delete(path));
    assert.equal(await read(store, path), null);
  },

  'what is not there is null, also inside a transaction and below another document': async ({ store }) => {
    const collection = fresh();
    await put(store, `${collection}/b`, { n: 1 });
    const paths = ['a', 'b', 'b/ids/1'].map((id) => `${collection}/${id}`);
    assert.deepEqual(await store.transaction((tx) => tx.get(paths)), [null, { n: 1 }, null]);
    assert.deepEqual(await store.transaction((tx) => tx.get([])), []);
  },

  'twenty concurrent increments lose none': async ({ store }) => {
    const path = `${fresh()}/counter`;
    await Promise.all(Array.from({ length: 20 }, () => increment(store, path)));
    assert.deepEqual(await read(store, path), { n: 20 });
  },

  'of two that read one document and change it, one fails and changes nothing': async (world) => {
    const path = `${fresh()}/d`;
    let meanwhile: Promise<void> | undefined;
    const error = await failure(
      world.store.transaction(async (tx) => {
        await tx.get([path]);
        meanwhile ??= put(world.store, path, { by: 'other' });
        await meanwhile;
        tx.set(path, { by: 'me' });
        tx.set(`${path}/ids/1`, {});
      }),
    );
    assert.ok(error instanceof TransientError);
    assert.deepEqual(await read(world.store, path), { by: 'other' });
    assert.equal(await read(world.store, `${path}/ids/1`), null);
    observe(world, 'store: conflict', `the first commit wins, the other one is told ${error.code}`);
  },

  'that a document is absent counts as read': async ({ store }) => {
    const path = `${fresh()}/d`;
    const error = await failure(
      store.transaction(async (tx) => {
        const [found] = await tx.get([path]);
        assert.equal(found, null);
        await put(store, path, { by: 'other' });
        tx.set(path, { by: 'me' });
      }),
    );
    assert.ok(error instanceof TransientError);
    assert.deepEqual(await read(store, path), { by: 'other' });
  },

  'nobody commits on what was never true at one moment': async ({ store }) => {
    const collection = fresh();
    const [a, b] = [`${collection}/a`, `${collection}/b`];
    const both = (n: number) =>
      store.transaction(async (tx) => {
        tx.set(a, { n });
        tx.set(b, { n });
      });
    await both(1);
    const torn = store.transaction(async (tx) => {
      const [first] = await tx.get([a]);
      await both(2);
      const [second] = await tx.get([b]);
      tx.set(`${collection}/copy`, { a: first!['n']!, b: second!['n']! });
    });
    assert.ok((await failure(torn)) instanceof TransientError);
    assert.equal(await read(store, `${collection}/copy`), null);
  },

  'documents that nobody shares do not disturb each other': async ({ store }) => {
    const collection = fresh();
    await store.transaction(async (tx) => {
      await tx.get([`${collection}/a`]);
      await put(store, `${collection}/b`, { n: 1 });
      tx.set(`${collection}/a`, { n: 1 });
    });
    assert.deepEqual(await read(store, `${collection}/a`), { n: 1 });
  },

  'all documents of a commit or none': async ({ store }) => {
    const collection = fresh();
    await put(store, `${collection}/old`, { n: 1 });
    await store.transaction(async (tx) => {
      tx.set(`${collection}/a`, { n: 1 });
      tx.set(`${collection}/b`, { n: 2 });
      tx.delete(`${collection}/old`);
    });
    assert.deepEqual(await store.transaction((tx) => tx.get(['a', 'b', 'old'].map((id) => `${collection}/${id}`))), [
      { n: 1 },
      { n: 2 },
      null,
    ]);
    const failing = store.transaction(async (tx) => {
      tx.set(`${collection}/c`, { n: 1 });
      tx.set(`${collection}/d`, { large: 'x'.repeat(1_048_576) });
    });
    assert.ok((await failure(failing)) instanceof TransientError);
    assert.equal(await read(store, `${collection}/c`), null);
  },

  'a document holds 1 MiB by the published rules, and not a byte more': async ({ store }) => {
    const path = `${fresh()}/d`;
    const other = 32 + 'bytes'.length + 1 + 'flag'.length + 1 + 1 + 'map'.length + 1 + 32 + 'a'.length + 1 + 8;
    const room = 1_048_576 - other - path.split('/').reduce((sum, id) => sum + id.length + 1, 16);
    const document = (bytes: number) => ({ bytes: new Uint8Array(bytes), flag: true, map: { a: 1 } });
    assert.ok((await failure(put(store, path, document(room + 1)))) instanceof TransientError);
    await put(store, path, document(room));
  },

  'what the work throws comes out as it is, and nothing is written': async ({ store }) => {
    const path = `${fresh()}/d`;
    const mistake = new RangeError('mine');
    const error = await failure(
      store.transaction(async (tx) => {
        tx.set(path, { n: 1 });
        throw mistake;
      }),
    );
    assert.equal(error, mistake);
    assert.equal(await read(store, path), null);
  },

  'undefined cannot be stored, and names have their rules': async ({ store }) => {
    const collection = fresh();
    await failure(put(store, `${collection}/d`, { n: undefined } as never));
    for (const id of ['__id__', 'x'.repeat(1501)]) {
      assert.ok((await failure(put(store, `${collection}/${id}`, {}))) instanceof TransientError, id.slice(0, 20));
    }
    assert.equal(await read(store, `${collection}/d`), null);
  },

  'due documents come by time and id, of one shard and collection, page by page': async ({ store }) => {
    const collection = fresh();
    const at = { d0: 30, d1: 10, d2: 20, d3: 10, 'd\u{1f600}': 10, 'd\u{ff5e}': 10, later: 31 };
    for (const [id, wake_at] of Object.entries(at)) await put(store, `${collection}/${id}`, { shard: 3, wake_at });
    await put(store, `${collection}/other`, { shard: 4, wake_at: 1 });
    await put(store, `${collection}/asleep`, { shard: 3 });
    await put(store, `${collection}/d0/ids/1`, { shard: 3, wake_at: 1 });
    const query = { collection, shard: 3, before: 30, limit: 2 };
    const ids: string[] = [];
    for (let page = await store.due(query); page.length > 0;) {
      assert.ok(page.length <= 2);
      ids.push(...page.map(({ path }) => path.slice(collection.length + 1)));
      const { path, document } = page.at(-1)!;
      page = await store.due({ ...query, after: { wakeAt: Number(document['wake_at']), path } });
    }
    assert.deepEqual(ids, ['d1', 'd3', 'd\u{ff5e}', 'd\u{1f600}', 'd2', 'd0']);
    assert.deepEqual(await store.due({ ...query, collection: fresh() }), []);
    assert.equal(await store.waiting(collection, 100), 8, 'of every shard, due or not');
    assert.equal(await store.waiting(collection, 3), 3);
  },

  'a cursor may stand on a document that has gone': async ({ store }) => {
    const collection = fresh();
    for (const id of ['a', 'b']) await put(store, `${collection}/${id}`, { shard: 0, wake_at: 5 });
    await store.transaction(async (tx) => tx.delete(`${collection}/a`));
    const after = { wakeAt: 5, path: `${collection}/a` };
    const found = await store.due({ collection, shard: 0, before: 5, limit: 9, after });
    assert.deepEqual(found, [{ path: `${collection}/b`, document: { shard: 0, wake_at: 5 } }]);
  },

  'a commit that was refused has no effect': async (world) => {
    const path = `${fresh()}/d`;
    world.trouble('store', 'refused');
    assert.ok((await failure(put(world.store, path, { n: 1 }))) instanceof TransientError);
    world.calm();
    assert.equal(await read(world.store, path), null);
  },

  'a commit that never arrived has no effect': async (world) => {
    const path = `${fresh()}/d`;
    world.trouble('store', 'never arrived');
    const error = await failure(put(world.store, path, { n: 1 }));
    world.calm();
    observe(world, 'store: commit that never arrived', `${error.name}, ${await effect(world, path)}`);
  },

  'a commit whose answer is lost has its effect, once': async (world) => {
    const path = `${fresh()}/counter`;
    world.trouble('store', 'answer lost');
    const error = await failure(
      world.store.transaction(async (tx) => {
        const [found] = await tx.get([path]);
        tx.set(path, { n: Number(found?.['n'] ?? 0) + 1 });
      }),
    );
    world.calm();
    assert.ok(error instanceof AmbiguousError);
    assert.deepEqual(await read(world.store, path), { n: 1 });
  },
};

async function effect({ store }: World, path: string): Promise<string> {
  return (await read(store, path)) === null ? 'no effect' : 'done';
}
