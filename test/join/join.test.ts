import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { decodeCursor } from '../../functions/core/join/cursor-codec.ts';
import { OPEN, type Gate } from '../fakes/gate.ts';
import { JoinCloud, text } from './cloud.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

const FOLDER = path.resolve(import.meta.dirname, '../../joins/enrich');
const ENRICH = readFileSync(path.join(FOLDER, 'query.sql'), 'utf8');
const ENRICH_FILE = JSON.parse(readFileSync(path.join(FOLDER, 'join.json'), 'utf8')) as Record<string, unknown>;

const DAY = 86_400e6;
const clouds: JoinCloud[] = [];
after(async () => {
  for (const cloud of clouds) await cloud.stop();
});

async function start(): Promise<JoinCloud> {
  const cloud = await JoinCloud.start();
  clouds.push(cloud);
  return cloud;
}

const ids = (rows: readonly Record<string, unknown>[]) => rows.map((row) => row['event_id']).sort();

test('the default join adds the reference attribute, and each event is published once over many ticks', async () => {
  const cloud = await start();
  const join = cloud.join('enrich', ENRICH, ENRICH_FILE);
  await cloud.reference('cust_7', 'Seven');
  await cloud.tick(join);
  for (const id of ['e-1', 'e-2', 'e-1']) {
    await cloud.insert({ event_id: id });
    cloud.advance(120);
    await cloud.tick(join);
    await cloud.tick(join);
  }
  assert.deepEqual(ids(cloud.results()), ['e-1', 'e-2']);
  assert.deepEqual(cloud.results()[0], {
    unique_key: 'order_001',
    event_id: 'e-1',
    payload: '{"amount":10}',
    target_attribute: 'Seven',
    enriched: true,
  });
  const attributes = cloud.bus.published('results')[0]!.attributes;
  assert.equal(attributes['join'], 'enrich');
  assert.equal(attributes['unique_key'], 'order_001');
  assert.match(attributes['result_id']!, /^[0-9a-f]{64}$/);
  assert.deepEqual(
    cloud.logs.filter(({ severity }) => severity !== 'INFO' && severity !== 'DEBUG'),
    [],
  );
});

test('of reference rows for a key the latest survives, of equally late ones the least attribute; the others are counted', async () => {
  const cloud = await start();
  const join = cloud.join('enrich', ENRICH, ENRICH_FILE);
  await cloud.reference('cust_7', 'A', '2024-01-01 00:00:00+00');
  await cloud.reference('cust_7', 'C', '2024-01-02 00:00:00+00');
  await cloud.reference('cust_7', 'B', '2024-01-02 00:00:00+00');
  await cloud.tick(join);
  await cloud.insert({ event_id: 'e-1' });
  cloud.advance(120);
  await cloud.tick(join);
  assert.deepEqual(
    cloud.results().map((row) => row['target_attribute']),
    ['B'],
  );
  assert.equal(cloud.logs.findLast(({ event }) => event === 'join.window')!['surplus'], 2);
});

test('NULL and empty join keys, late events of any age and events of the future are all published', async () => {
  const cloud = await start();
  const join = cloud.join('enrich', ENRICH, ENRICH_FILE);
  await cloud.tick(join);
  const day = 86_400e6;
  await cloud.insert(
    { event_id: 'null', join_key: null },
    { event_id: 'empty', join_key: '' },
    { event_id: 'old', event_time: text(cloud.now - 3000 * day) },
    { event_id: 'future', event_time: text(cloud.now + 300 * day) },
  );
  for (let i = 0; i < 8; i++) {
    cloud.advance(120);
    await cloud.tick(join);
  }
  assert.deepEqual(ids(cloud.results()), ['empty', 'future', 'null', 'old']);
  assert.ok(cloud.results().every((row) => row['enriched'] === false));
});

test('under `drop` an unmatched row is counted and never published; another join goes its own way', async () => {
  const cloud = await start();
  const wait = cloud.join('enrich', ENRICH, { ...ENRICH_FILE, wait: '0s' });
  const drop = cloud.join('strict', ENRICH, { ...ENRICH_FILE, unmatched: 'drop', topic: 'strict-results' });
  await cloud.reference('cust_7', 'Seven');
  for (const join of [wait, drop]) await cloud.tick(join);
  await cloud.insert({ event_id: 'e-1' }, { event_id: 'e-2', join_key: 'nobody' });
  for (let i = 0; i < 8; i++) {
    cloud.advance(120);
    for (const join of [wait, drop]) await cloud.tick(join);
  }
  assert.deepEqual(ids(cloud.results('results')), ['e-1', 'e-2']);
  assert.deepEqual(ids(cloud.results('strict-results')), ['e-1']);
  const counts = cloud.logs
    .filter(({ event }) => event === 'join.window')
    .map((entry) => Number(entry['unmatched'] ?? 0));
  assert.equal(
    counts.reduce((a, b) => a + b),
    2,
  );
});

test('a SELECT that leaves events out: they are counted as dropped; several rows of an event have ids of their own', async () => {
  const cloud = await start();
  const query = `SELECT new_events.unique_key, new_events.event_id, item AS item, TRUE AS enriched
    FROM new_events CROSS JOIN UNNEST(JSON_VALUE_ARRAY(new_events.payload, '$.items')) AS item`;
  const join = cloud.join('items', query, { row_key: ['item'], attributes: ['item'], ordering_key: 'unique_key' });
  await cloud.tick(join);
  await cloud.insert(
    { event_id: 'e-1', payload: '{"items":["a","b","a"]}' },
    { event_id: 'e-2', payload: '{"items":[]}' },
  );
  cloud.advance(120);
  await cloud.tick(join);
  assert.deepEqual(
    cloud
      .results()
      .map((row) => row['item'])
      .sort(),
    ['a', 'b'],
  );
  const [message] = cloud.bus.published('results');
  assert.equal(message!.orderingKey, 'order_001');
  assert.ok(['a', 'b'].includes(message!.attributes['item']!));
  const window = cloud.logs.findLast(({ event }) => event === 'join.window')!;
  assert.deepEqual([window['events'], window['dropped'], window['surplus']], [2, 1, 1]);
});

test("a table of the user's own with other names, number ids and NULL times is a source", async () => {
  const cloud = await start();
  await cloud.client.dataset('codaflow').createTable('clicks', {
    schema: {
      fields: [
        { name: 'click', type: 'INTEGER' },
        { name: 'person', type: 'STRING' },
        { name: 'at', type: 'TIMESTAMP' },
      ],
    },
    timePartitioning: { type: 'DAY', field: 'at' },
  });
  const source = { table: 'clicks', key: 'person', id: 'click', time: 'at' };
  const query = 'SELECT person AS unique_key, click AS event_id, TRUE AS enriched FROM new_events';
  const join = cloud.join('clicks', query, { source });
  await cloud.tick(join);
  await cloud.bigquery.insertRows('codaflow.clicks', [
    { click: 1, person: 'p', at: text(cloud.now) },
    { click: 2, person: 'p', at: null },
    { click: 1, person: 'p', at: text(cloud.now) },
  ]);
  for (let i = 0; i < 3; i++) {
    cloud.advance(120);
    await cloud.tick(join);
  }
  assert.deepEqual(ids(cloud.results()), [1, 2]);
});

test('a row above the limit of Pub/Sub becomes a dead letter with its result id; the window goes on', async () => {
  const cloud = await start();
  const query = `SELECT unique_key, event_id, TRUE AS enriched, IF(event_id = 'big', RPAD('', 10000001, 'x'), '') AS text FROM new_events`;
  const join = cloud.join('big', query);
  await cloud.tick(join);
  await cloud.insert({ event_id: 'big' }, { event_id: 'small' });
  cloud.advance(120);
  await cloud.tick(join);
  assert.deepEqual(ids(cloud.results()), ['small']);
  const [letter] = cloud.bus.published('deadLetters');
  assert.equal(letter!.attributes['reason'], 'result_too_large');
  assert.match(letter!.attributes['result_id']!, /^[0-9a-f]{64}$/);
});

test('SQL that BigQuery refuses blocks the join with an alarm, keeps the cursor, and goes on once it is mended', async () => {
  const cloud = await start();
  const broken = cloud.join('enrich', 'SELECT unique_key, event_id, TRUE AS enriched, nowhere FROM new_events');
  await cloud.tick(broken);
  const position = () => decodeCursor(cloud.store.read('cursors/enrich')!).position;
  await cloud.insert({ event_id: 'e-1' });
  const inserted = cloud.now;
  for (let i = 0; i < 14; i++) {
    cloud.advance(120);
    await assert.rejects(cloud.tick(broken), /nowhere/);
  }
  // Halved steps may take it up to the event, never past it.
  assert.ok(position()! <= inserted);
  assert.ok(cloud.logs.some(({ event, severity }) => event === 'join.blocked' && severity === 'CRITICAL'));
  await cloud.tick(cloud.join('enrich', 'SELECT unique_key, event_id, TRUE AS enriched FROM new_events'));
  await cloud.tick(cloud.join('enrich', 'SELECT unique_key, event_id, TRUE AS enriched FROM new_events'));
  assert.deepEqual(ids(cloud.results()), ['e-1']);
});

test('after eight days without a run the table is scanned once and nothing is lost or repeated', async () => {
  const cloud = await start();
  const join = cloud.join('enrich', ENRICH, { ...ENRICH_FILE, wait: '0s' });
  await cloud.tick(join);
  const event_time = text(cloud.now);
  await cloud.insert({ event_id: 'e-0', event_time });
  cloud.advance(120);
  await cloud.tick(join);
  await cloud.insert({ event_id: 'e-1' });
  for (let day = 1; day <= 8; day++) {
    cloud.advance(86_400);
    await cloud.insert(
      { event_id: `day-${day}` },
      { event_id: `late-${day}`, event_time: text(cloud.now - 200 * DAY) },
    );
  }
  await cloud.insert({ event_id: 'e-0', event_time });
  cloud.advance(120);
  const before = cloud.bus.published('results').length;
  let pages = 0;
  const counting: Gate = {
    ...OPEN,
    before: async ({ port }) => {
      if (port === 'bus') pages++;
    },
  };
  const { outcome, scans } = await cloud.tick(join, { JOIN_PAGE: '5' }, counting);
  assert.deepEqual([outcome, scans, pages], ['done', 1, 4]);
  await cloud.tick(join);
  const gap = Array.from({ length: 8 }, (_, i) => [`day-${i + 1}`, `late-${i + 1}`]).flat();
  assert.deepEqual(ids(cloud.results()), [...gap, 'e-0', 'e-1'].sort());
  assert.equal(cloud.bus.published('results').length - before, 17);
  const [scan, ...more] = cloud.logs.filter(({ event }) => event === 'join.scan');
  assert.deepEqual(more, []);
  assert.ok(Number(scan!['bytes']) > 0);
  assert.match(String(scan!.message), /left time travel.*\d+ days of it, \d+ bytes, about \$/);
  assert.equal(
    cloud.logs.findLast(({ event, published }) => event === 'join.window' && published !== 0)!['published'],
    17,
  );
});

test('after six days without a run the cursor catches up in capped steps, without a scan', async () => {
  const cloud = await start();
  const join = cloud.join('enrich', ENRICH, { ...ENRICH_FILE, wait: '0s', step: '1d' });
  await cloud.tick(join);
  const expected: string[] = [];
  for (let day = 1; day <= 6; day++) {
    await cloud.insert(
      { event_id: `day-${day}` },
      { event_id: `late-${day}`, event_time: text(cloud.now - 200 * DAY) },
    );
    expected.push(`day-${day}`, `late-${day}`);
    cloud.advance(86_400);
  }
  const report = await cloud.tick(join);
  assert.deepEqual(ids(cloud.results()), expected.sort());
  // The clock goes on while they run.
  assert.ok(report.windows === 6 || report.windows === 7, `${report.windows} windows`);
  const situations = cloud.logs.filter(({ event }) => event === 'join.plan').map(({ situation }) => situation);
  assert.deepEqual(situations.slice(-report.windows), [
    ...Array<string>(report.windows - 1).fill('catching_up'),
    'normal',
  ]);
  assert.ok(!cloud.logs.some(({ event }) => event === 'join.scan'));
});

test('the bytes of a run grow with its window, not with the table or the ledger', async (t) => {
  const processed: number[] = [];
  for (const days of [1, 10, 100]) {
    const cloud = await start();
    const join = cloud.join('enrich', ENRICH, { ...ENRICH_FILE, wait: '0s' });
    await cloud.tick(join);
    for (let day = days; day >= 1; day--) {
      const time = text(cloud.now - day * 86_400e6);
      await cloud.insert(...Array.from({ length: 20 }, (_, i) => ({ event_id: `old-${day}-${i}`, event_time: time })));
    }
    cloud.advance(120);
    await cloud.tick(join);
    cloud.advance(1200);
    await cloud.tick(join);
    await cloud.insert(...Array.from({ length: 20 }, (_, i) => ({ event_id: `new-${i}` })));
    cloud.advance(120);
    const before = cloud.meter.get('bigquery.bytes_processed');
    await cloud.tick(join);
    processed.push(cloud.meter.get('bigquery.bytes_processed') - before);
    assert.equal(cloud.results().length, days * 20 + 20);
  }
  // `events` and `joined` are both a hundred times as large.
  const [one, ...larger] = processed;
  for (const bytes of larger)
    assert.ok(bytes <= one! * 1.1, `bytes processed at 1x, 10x, 100x: ${processed.join(', ')}`);
  t.diagnostic(`bytes processed by a run at 1x, 10x, 100x: ${processed.join(', ')}`);
});
