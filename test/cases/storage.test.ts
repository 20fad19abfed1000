import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ESLint } from 'eslint';
import { createTables } from '../../local/provision.ts';
import { DATASET, tables } from '../../local/resources.ts';
import { event, KEY, published, reasons, stateOf } from './event.ts';
import { startStorage } from './storage.ts';

/** How rows got lost or doubled on their way into BigQuery elsewhere. */

const ROOT = path.resolve(import.meta.dirname, '../..');
const DAY = 86_400e6;
/** In the range of the functions, out of that of a BigQuery whose clock is half a year behind. */
const FAR = { timestamp: '2024-11-01T00:00:00Z' };

/** Storage whose BigQuery refuses rows that the functions take for good. */
const startStrict = (t: TestContext) => startStorage(t, 180 * DAY);

const ids = (rows: readonly Record<string, unknown>[]) => rows.map((row) => row['event_id']);

/** Sources of the functions, without their tests. */
function sources(): readonly (readonly [string, string])[] {
  const files = globSync('functions/**/*.ts', { cwd: ROOT }).filter((file) => !/\.test\.ts$|fixture\.ts$/.test(file));
  return files.map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')]);
}

describe('rows that BigQuery refuses', () => {
  test('BQ-01: a row that is refused in an answer that succeeds is a dead letter, not an acknowledged nothing', async (t) => {
    const { cloud, rows } = await startStrict(t);
    const data = JSON.stringify(event('e-1', 'started', FAR));
    assert.equal(await cloud.deliver({ data }), 204);
    assert.deepEqual(reasons(cloud), ['row_refused']);
    assert.equal(Buffer.from(cloud.bus.published('deadLetters')[0]!.data as Uint8Array).toString(), data);
    assert.deepEqual(await rows('events'), []);
    assert.equal(cloud.store.dump().size, 0);
  });

  test('BQ-02: the neighbours of a refused row are sent again and stored once', async (t) => {
    const { cloud, rows, appends } = await startStrict(t);
    const events = [
      event('e-0', 'started'),
      event('e-1', 'started'),
      event('e-2', 'started', FAR),
      event('e-3', 'started'),
    ];
    // The first goes at once and alone, what comes meanwhile goes together.
    assert.deepEqual(await Promise.all(events.map((one) => cloud.ingest(one))), [204, 204, 204, 204]);
    assert.equal(appends(), 3);
    assert.deepEqual(ids(await rows('events')), ['e-0', 'e-1', 'e-3']);
    assert.deepEqual(reasons(cloud), ['row_refused']);
    assert.equal(cloud.bus.published('deadLetters')[0]!.attributes['event_id'], 'e-2');
    assert.equal(stateOf(cloud).fold.count, 3);
  });

  test('TST-13: a time outside the range never reaches BigQuery; its neighbour is stored, nothing is repeated', async (t) => {
    const { cloud, rows, appends } = await startStorage(t);
    const events = [event('e-1', 'started', { timestamp: '2001-01-01T00:00:00Z' }), event('e-2', 'started')];
    assert.deepEqual(await Promise.all(events.map((one) => cloud.ingest(one))), [204, 204]);
    assert.deepEqual(reasons(cloud), ['timestamp_out_of_range']);
    assert.deepEqual(ids(await rows('events')), ['e-2']);
    assert.equal(appends(), 1);
  });

  test('TST-14: a time of a wrong clock is a dead letter with its bytes and moves nothing; the key goes on', async (t) => {
    const { cloud, rows } = await startStorage(t);
    const data = JSON.stringify(event('e-1', 'started', { timestamp: '2099-01-01T00:00:00Z' }));
    assert.equal(await cloud.deliver({ data }), 204);
    assert.equal(await cloud.ingest(event('e-2', 'processing')), 204);
    const [letter] = cloud.bus.published('deadLetters');
    assert.deepEqual(reasons(cloud), ['timestamp_out_of_range']);
    assert.equal(Buffer.from(letter!.data as Uint8Array).toString(), data);
    assert.deepEqual(ids(await rows('events')), ['e-2']);
    const { fold } = stateOf(cloud);
    assert.deepEqual([fold.count, fold.lastTime], [1, Date.parse('2024-01-05T10:00:00Z') * 1000]);
  });

  test('BQ-08: a row above the limit is a dead letter before any call; the event beside it is stored', async (t) => {
    const { cloud, rows, appends } = await startStorage(t);
    const large = (bytes: number) => JSON.stringify(event('e-1', 'started', { payload: { blob: 'x'.repeat(bytes) } }));
    // Pub/Sub itself takes 10 MB; what is larger can only come compressed.
    const answers = await Promise.all([
      cloud.deliver({ data: gzipSync(large(11_000_000)), attributes: { 'content-encoding': 'gzip' } }),
      cloud.deliver({ data: large(9_500_000) }),
      cloud.ingest(event('e-2', 'started')),
    ]);
    assert.deepEqual(answers, [204, 204, 204]);
    assert.deepEqual(reasons(cloud), ['too_large', 'too_large']);
    assert.deepEqual(ids(await rows('events')), ['e-2']);
    assert.equal(appends(), 1);
  });
});

describe('appends that fail', () => {
  for (const [code, name] of [
    [4, 'DEADLINE_EXCEEDED'],
    [8, 'RESOURCE_EXHAUSTED'],
    [13, 'INTERNAL'],
    [14, 'UNAVAILABLE'],
  ] as const) {
    test(`BQ-04: ${name} passes: not acknowledged, stored by the redelivery, no dead letter`, async (t) => {
      const storage = await startStorage(t);
      const { cloud, rows } = storage;
      storage.fault = { kind: 'refuse', code };
      assert.ok((await cloud.ingest(event('e-1', 'started'))) >= 429);
      assert.equal(cloud.store.dump().size, 0);
      storage.fault = undefined;
      assert.equal(await cloud.ingest(event('e-1', 'started')), 204);
      assert.deepEqual(ids(await rows('events')), ['e-1']);
      assert.equal(stateOf(cloud).fold.count, 1);
      assert.deepEqual(reasons(cloud), []);
    });
  }

  test('BQ-04: INVALID_ARGUMENT never passes: a dead letter at once', async (t) => {
    const storage = await startStorage(t);
    storage.fault = { kind: 'refuse', code: 3, message: 'malformed row' };
    assert.equal(await storage.cloud.ingest(event('e-1', 'started')), 204);
    assert.deepEqual(reasons(storage.cloud), ['row_refused']);
  });

  test('BQ-22: while the table is gone nothing is acknowledged; no code of the functions makes tables', async (t) => {
    const { cloud, client, rows } = await startStorage(t);
    assert.equal(await cloud.ingest(event('e-0', 'started')), 204);
    await client.dataset(DATASET).table('events').delete();
    assert.ok((await cloud.ingest(event('e-1', 'started'))) >= 500);
    await createTables(client);
    assert.deepEqual(await rows('events'), [], 'the function did not make it');
    assert.equal(await cloud.ingest(event('e-1', 'started')), 204);
    assert.deepEqual(ids(await rows('events')), ['e-1']);
    assert.deepEqual(reasons(cloud), []);
    const makes = /\.create(Table|Dataset)\(|\bCREATE\s+(OR\s+REPLACE\s+)?(TEMP\s+)?TABLE\b/i;
    for (const [file, text] of sources()) assert.doesNotMatch(text, makes, file);
  });

  test('BQ-23: a column that the table has not yet: repeated until it has, then the row is whole', async (t) => {
    const { cloud, client, rows } = await startStorage(t);
    const table = client.dataset(DATASET).table('events');
    const { schema } = tables().find(({ name }) => name === 'events')!;
    const fields = schema as { name: string }[];
    const before = fields.filter(({ name }) => name !== 'extra');
    await table.delete();
    await client.dataset(DATASET).createTable('events', { schema: { fields: before } });
    const data = JSON.stringify(event('e-1', 'started', { colour: 'red' }));
    for (let attempt = 1; attempt <= 3; attempt++) {
      assert.ok((await cloud.deliver({ data, deliveryAttempt: attempt })) >= 500);
    }
    assert.deepEqual(await rows('events'), []);
    assert.deepEqual(reasons(cloud), []);
    await table.setMetadata({
      schema: { fields: [...before, ...fields.filter((field) => !before.includes(field))] },
    });
    assert.equal(await cloud.deliver({ data, deliveryAttempt: 4 }), 204);
    const [row] = await rows('events');
    assert.deepEqual(JSON.parse(String(row!['extra'])), { colour: 'red' });
    for (const [file, text] of sources()) assert.doesNotMatch(text, /ignoreUnknownValues|skipInvalidRows/, file);
  });

  test('BQ-23: a column that never comes: a dead letter on the last attempt, with that cause', async (t) => {
    const storage = await startStorage(t);
    storage.fault = { kind: 'refuse', code: 3, message: 'Input schema has more fields than BigQuery schema' };
    const data = JSON.stringify(event('e-1', 'started'));
    assert.ok((await storage.cloud.deliver({ data, deliveryAttempt: 99 })) >= 500);
    assert.equal(await storage.cloud.deliver({ data, deliveryAttempt: 100 }), 204);
    const [letter] = storage.cloud.bus.published('deadLetters');
    assert.deepEqual(
      [letter!.attributes['reason'], letter!.attributes['cause']],
      ['delivery_attempts_exhausted', 'schema_mismatch'],
    );
  });

  test('BQ-25: a promise that nobody awaits is an error of the lint; a row error is awaited and acted upon', async (t) => {
    const lint = new ESLint({ cwd: ROOT });
    for (const file of ['functions/ingest/append.ts', 'functions/gcp/storage-write.ts', 'functions/index.ts']) {
      const { rules } = (await lint.calculateConfigForFile(file)) as { rules: Record<string, readonly unknown[]> };
      for (const rule of ['no-floating-promises', 'no-misused-promises']) {
        assert.equal(rules[`@typescript-eslint/${rule}`]?.[0], 2, `${rule} in ${file}`);
      }
    }
    const { cloud } = await startStrict(t);
    assert.equal(await cloud.ingest(event('e-1', 'started', FAR)), 204);
    assert.deepEqual(reasons(cloud), ['row_refused']);
  });
});

describe('identity in BigQuery', () => {
  test('BQ-16: repeats after seconds, minutes and days are one row of the view, and one event of the key', async (t) => {
    const { cloud, rows } = await startStorage(t);
    const data = JSON.stringify(event('e-1', 'started'));
    for (const seconds of [0, 30, 600, 259_200]) {
      cloud.clock.advance(seconds * 1e6);
      assert.equal(await cloud.deliver({ data, messageId: 'm1' }), 204);
    }
    assert.equal((await rows('events')).length, 4);
    assert.deepEqual(ids(await rows('events_unique')), ['e-1']);
    assert.equal(stateOf(cloud).fold.count, 1);
  });

  test('BQ-17: three events of one key and one moment are three rows', async (t) => {
    const { cloud, rows } = await startStorage(t);
    for (const [id, status] of [['e-1', 'started'], ['e-2', 'processing'], ['e-3', 'completed']] as const) {
      assert.equal(await cloud.ingest(event(id, status)), 204);
    } // prettier-ignore
    assert.deepEqual(ids(await rows('events_unique')), ['e-1', 'e-2', 'e-3']);
    assert.equal(stateOf(cloud).fold.count, 3);
  });

  test('BQ-19: an id with other content is a dead letter; the first one stays and the key is not finished', async (t) => {
    const { cloud, rows } = await startStorage(t);
    assert.equal(await cloud.ingest(event('e-1', 'started')), 204);
    cloud.clock.advance(5e6);
    assert.equal(await cloud.ingest(event('e-1', 'completed')), 204);
    await cloud.deliverHints();
    assert.deepEqual(reasons(cloud), ['event_id_conflict']);
    const seen = await rows('events_unique');
    assert.deepEqual(
      seen.map((row) => row['event_status']),
      ['started'],
    );
    assert.deepEqual([stateOf(cloud).fold.count, stateOf(cloud).fold.coda], [1, null]);
    assert.deepEqual(published(cloud), []);
  });

  test('PUB-01: three deliveries at once are one row of the view, one event and one wake-up', async (t) => {
    const { cloud, rows } = await startStorage(t);
    const message = { data: JSON.stringify(event('e-1', 'started')), messageId: 'm1' };
    assert.deepEqual(await Promise.all([1, 2, 3].map(() => cloud.deliver(message))), [204, 204, 204]);
    assert.deepEqual(ids(await rows('events_unique')), ['e-1']);
    const documents = [...cloud.store.dump().values()];
    assert.equal(documents.filter((one) => typeof one['wake_at'] === 'number').length, 1);
    assert.equal(stateOf(cloud, KEY).fold.count, 1);
  });

  test('PUB-13: without an id the message id counts: its repeat is no event, equal content under another is', async (t) => {
    const { cloud, rows } = await startStorage(t);
    const { event_id: _, ...anonymous } = event('', 'started');
    const data = JSON.stringify(anonymous);
    for (const messageId of ['m1', 'm1', 'm2']) {
      assert.equal(await cloud.deliver({ data, messageId }), 204);
      cloud.clock.advance(60e6);
    }
    assert.deepEqual(ids(await rows('events_unique')), ['m1', 'm2']);
    assert.equal(stateOf(cloud).fold.count, 2);
  });
});
