import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TransientError } from '../../functions/core/errors.ts';
import { decodeCursor, encodeCursor } from '../../functions/core/join/cursor-codec.ts';
import { decodeState, encodeState } from '../../functions/core/sequence/codec.ts';
import { decodeWatchDocument, encodeWatch } from '../../functions/core/watch/codec.ts';
import type { Document } from '../../functions/ports.ts';
import { rulesWith } from '../fakes/keys.ts';
import { CURRENT, fixtureNames, readFixture, worldOf } from './fixtures.ts';
import { KEY, MINUTE, type World } from './world.ts';

const rules = rulesWith();
const CODECS: Readonly<
  Record<string, { readonly decode: (document: Document) => unknown; readonly again: (document: Document) => object }>
> = {
  sequences: { decode: decodeState, again: (document) => encodeState(decodeState(document), rules) },
  cursors: { decode: decodeCursor, again: (document) => encodeCursor(decodeCursor(document)) },
  watches: {
    decode: decodeWatchDocument,
    again: (document) => encodeWatch(decodeWatchDocument(document), rules.shards),
  },
};

/** All documents of the fixtures that have a codec. */
const stored = fixtureNames().flatMap((name) =>
  Object.entries(readFixture(name).documents)
    .filter(([path]) => path.split('/').length === 2)
    .map(([path, document]) => ({ name, document, codec: CODECS[path.split('/')[0]!]! })),
);

const unreadable = (message: RegExp) => (error: unknown) =>
  error instanceof TransientError && error.code === 'unreadable_state' && message.test(error.message);

test('what today stores is what it stored: a new format needs a new version and fixtures of its own', () => {
  for (const { name, document, codec } of stored) {
    if (!name.startsWith(`${CURRENT}/`)) continue;
    // Sequences and watches had their shard also when nothing would wake them; nobody reads it there.
    const { shard: _, ...asleep } = document;
    const isAsleep = document['wake_at'] === undefined;
    assert.deepEqual(plain(codec.again(document)), plain(isAsleep ? asleep : document), name);
  }
});

/** Numbers, texts and bytes in one order and one class. */
function plain(document: object): unknown {
  const entries = Object.entries(document).map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (value as unknown)]); // prettier-ignore
  return Object.fromEntries(entries);
}

describe('a document that cannot be read', () => {
  test('is refused when newer code wrote it', () => {
    for (const { document, codec } of stored) {
      for (const v of [2, '1', 0]) assert.throws(() => codec.decode({ ...document, v }), unreadable(/format version/));
    }
  });

  test('is refused without any one of its parts, unless the part may be missing', () => {
    const optional = new Set(['wake_at', 'expire_at', 'claim', 'outcome', 'reason', 'answer', 'last_checked', 'last_found', 'confirmed']); // prettier-ignore
    const unread = new Set(['shard', 'watch_id', 'unique_key']);
    // Null in a cursor is what is missing in an older one.
    const nullable = new Set(['position', 'lease_owner', 'run', 'last_run', 'backfill', 'days_per_merge', 'lease_token', 'lease_until']); // prettier-ignore
    for (const { name, document, codec } of stored) {
      for (const part of Object.keys(document)) {
        if (part === 'v' || optional.has(part) || unread.has(part) || nullable.has(part)) continue;
        const { [part]: _, ...rest } = document;
        assert.throws(() => codec.decode(rest), unreadable(/damaged/), `${name} without ${part}`);
        assert.throws(() => codec.decode({ ...document, [part]: true }), unreadable(/damaged/), `${name}: ${part}`);
      }
    }
  });

  test('is refused when its bytes are cut off anywhere, or there are more of them', () => {
    for (const { name, document, codec } of stored) {
      for (const part of ['state', 'claim'] as const) {
        const bytes = document[part];
        if (!(bytes instanceof Uint8Array)) continue;
        for (let length = 0; length < bytes.length; length++) {
          const cut = { ...document, [part]: bytes.slice(0, length) };
          assert.throws(() => codec.decode(cut), unreadable(/damaged/), `${name}: ${length} bytes of ${part}`);
        }
        const longer = { ...document, [part]: new Uint8Array([...bytes, 0]) };
        assert.throws(() => codec.decode(longer), unreadable(/damaged/));
      }
    }
  });

  test('is refused when its events and its version do not agree', () => {
    for (const { document, codec } of stored) {
      if (document['version'] === undefined) continue;
      assert.throws(
        () => codec.decode({ ...document, version: Number(document['version']) + 1 }),
        unreadable(/damaged/),
      );
    }
  });
});

/** The world of a fixture whose document was written by newer code; `restore` undoes that. */
async function newer(name: string, collection: string) {
  const fixture = readFixture(`${CURRENT}/${name}`);
  const [path, document] = Object.entries(fixture.documents).find(([one]) => one.startsWith(`${collection}/`))!;
  const world = await worldOf({ ...fixture, documents: { ...fixture.documents, [path]: { ...document, v: 2 } } });
  const restore = () => world.store.port().transaction(async (tx) => tx.set(path, { ...world.document(collection), v: 1 })); // prettier-ignore
  const isUntouched = () => {
    const { wake_at: _, attempts: __, ...rest } = world.document(collection);
    const { wake_at: ___, attempts: ____, ...before } = { ...document, v: 2 } as Document;
    assert.deepEqual(rest, before);
  };
  return { world, restore, isUntouched };
}

const reported = (world: World) => world.logged.some((entry) => JSON.stringify(entry, errorText).includes('format version 2')); // prettier-ignore
const errorText = (_key: string, value: unknown): unknown => (value instanceof Error ? value.message : value);

describe('a rollback behind a newer format', () => {
  test('keeps events waiting, and loses none', async () => {
    const { world, restore, isUntouched } = await newer('sequence-open', 'sequences');
    assert.equal(await world.ingest('c'), 503);
    assert.equal(await world.ingest('end', { event_status: 'completed' }), 503);
    isUntouched();
    assert.ok(reported(world));
    assert.equal(world.bus.published('deadLetters').length, 0);
    await restore();
    assert.equal(await world.ingest('c'), 204);
    assert.equal(await world.ingest('end', { event_status: 'completed' }), 204);
    await world.hints();
    assert.deepEqual(world.rows().map((row) => [row.total_steps, row.complete]), [[4, true]]); // prettier-ignore
  });

  test('keeps summaries waiting, and the sweeper looking', async () => {
    const { world, restore, isUntouched } = await newer('sequence-claimed-not-confirmed', 'sequences');
    const hint = { data: JSON.stringify({ unique_key: KEY }), attributes: {} };
    assert.equal(await world.push('finish', hint), 503);
    await world.pass(10 * MINUTE);
    isUntouched();
    assert.deepEqual(world.rows(), []);
    assert.ok(reported(world));
    await restore();
    await world.pass(20 * MINUTE);
    assert.deepEqual(world.rows().map((row) => row.total_steps), [2, 3]); // prettier-ignore
  });

  test('keeps a join where it is', async () => {
    const { world, restore, isUntouched } = await newer('cursor-publishing', 'cursors');
    world.clock.advance(world.config.joinLease);
    await assert.rejects(world.tick(), unreadable(/the cursor of the join has the format version 2/));
    await assert.rejects(world.backfill(0, MINUTE, 1), unreadable(/format version 2/));
    isUntouched();
    await restore();
    await world.tick();
    assert.equal(world.results().length, 5);
  });

  test('keeps watches waiting', async () => {
    const { world, restore, isUntouched } = await newer('watch-armed', 'watches');
    world.status = 'done';
    const { watch_id: watchId, created: generation, attempt } = world.document('watches');
    const task = JSON.stringify({ watch_id: watchId, generation, attempt });
    assert.equal((await world.poll(task, 'task')).status, 503);
    await world.pass(10 * MINUTE);
    isUntouched();
    assert.ok(reported(world));
    await restore();
    await world.pass(120 * MINUTE);
    assert.equal(world.document('watches')['outcome'], 'ready');
  });
});
