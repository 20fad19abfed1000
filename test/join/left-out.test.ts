import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import type { JoinSettings } from '../../functions/core/join/settings.ts';
import { createJoinViews } from '../../local/joins.ts';
import { JoinCloud, text } from './cloud.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

const QUERY = readFileSync(path.resolve(import.meta.dirname, '../../joins/enrich/query.sql'), 'utf8');
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

async function leftOut(cloud: JoinCloud, join: string, columns = '*'): Promise<Record<string, unknown>[]> {
  const [rows] = await cloud.client.query(`SELECT ${columns} FROM codaflow.${join}_left_out`);
  return rows as Record<string, unknown>[];
}

const ids = (rows: readonly Record<string, unknown>[]) => rows.map((row) => row['event_id']).sort();

async function ticks(cloud: JoinCloud, join: JoinSettings, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    cloud.advance(120);
    await cloud.tick(join);
  }
}

test('the view of a join under `drop` lists what it has not published, each event once, by join', async () => {
  const cloud = await start();
  const drop = cloud.join('strict', QUERY, { unmatched: 'drop', topic: 'strict-results' });
  const wait = cloud.join('enrich', QUERY);
  await cloud.reference('cust_7', 'Seven');
  for (const join of [drop, wait]) await cloud.tick(join);
  await createJoinViews(cloud.client, [drop, wait]);
  const nobody = { event_id: 'e-2', join_key: 'nobody', event_time: text(cloud.now) };
  await cloud.insert({ event_id: 'e-1' }, nobody, nobody);
  assert.deepEqual(ids(await leftOut(cloud, 'strict')), ['e-1', 'e-2'], 'not reached yet');
  await ticks(cloud, drop, 1);
  await ticks(cloud, wait, 1);
  assert.deepEqual(ids(await leftOut(cloud, 'strict')), ['e-2']);
  assert.deepEqual(ids(await leftOut(cloud, 'enrich')), ['e-2'], 'it waits');
  await ticks(cloud, wait, 7);
  assert.deepEqual(ids(await leftOut(cloud, 'enrich')), []);
  const [row] = await leftOut(cloud, 'strict', 'unique_key, join_key');
  assert.deepEqual(row, { unique_key: 'order_001', join_key: 'nobody' });
});

test('the view reads 30 days of both tables, whatever the history', async () => {
  const cloud = await start();
  const join = cloud.join('strict', QUERY, { unmatched: 'drop' });
  await createJoinViews(cloud.client, [join]);
  await cloud.tick(join);
  const read = async (): Promise<number> => {
    const before = cloud.meter.get('bigquery.bytes_processed');
    await leftOut(cloud, 'strict', 'unique_key, event_id');
    return cloud.meter.get('bigquery.bytes_processed') - before;
  };
  await cloud.insert({ event_id: 'new', join_key: 'nobody' });
  const alone = await read();
  for (let day = 31; day < 131; day++)
    await cloud.insert({ event_id: `old-${day}`, event_time: text(cloud.now - day * DAY), join_key: 'nobody' });
  assert.equal(await read(), alone);
  assert.deepEqual(ids(await leftOut(cloud, 'strict')), ['new']);
});

test("the view of a join over a table of the user's own has that table's columns and types", async () => {
  const cloud = await start();
  await cloud.client.dataset('codaflow').createTable('clicks', {
    schema: {
      fields: [
        { name: 'order', type: 'INTEGER' },
        { name: 'person', type: 'STRING' },
        { name: 'at', type: 'TIMESTAMP' },
      ],
    },
    timePartitioning: { type: 'DAY', field: 'at' },
  });
  const source = { table: 'clicks', key: 'person', id: 'order', time: 'at' };
  const query = 'SELECT person AS unique_key, `order` AS event_id, `order` > 1 AS enriched FROM new_events';
  const join = cloud.join('clicks', query, { source, unmatched: 'drop' });
  await createJoinViews(cloud.client, [join]);
  await cloud.tick(join);
  await cloud.bigquery.insertRows('codaflow.clicks', [
    { order: 1, person: 'p', at: text(cloud.now) },
    { order: 2, person: 'p', at: text(cloud.now) },
    { order: 3, person: 'p', at: null },
  ]);
  await ticks(cloud, join, 2);
  const rows = await leftOut(cloud, 'clicks', '`order`, person');
  assert.deepEqual(rows, [{ order: 1, person: 'p' }]);
});

test('the view of a join that is gone is removed', async () => {
  const cloud = await start();
  const [one, two] = [cloud.join('one', QUERY), cloud.join('two', QUERY)];
  await createJoinViews(cloud.client, [one, two]);
  await createJoinViews(cloud.client, [two]);
  await assert.rejects(leftOut(cloud, 'one'), /Not found/);
  assert.deepEqual(await leftOut(cloud, 'two'), []);
});
