import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { JoinSettings } from '../../functions/core/join/settings.ts';
import { createTables } from '../../local/provision.ts';
import { OPEN, type Gate } from '../fakes/gate.ts';
import { JoinCloud } from './cloud.ts';

/** Tables that are empty, missing, or made anew under a join. */

process.env['METADATA_SERVER_DETECTION'] = 'none';

const clouds: JoinCloud[] = [];
after(async () => {
  for (const cloud of clouds) await cloud.stop();
});

async function start(): Promise<{ cloud: JoinCloud; join: JoinSettings }> {
  const cloud = await JoinCloud.start();
  clouds.push(cloud);
  const join = cloud.join('enrich', 'SELECT unique_key, event_id, TRUE AS enriched FROM new_events');
  return { cloud, join };
}

async function recreate(cloud: JoinCloud, table: string): Promise<void> {
  await cloud.client.dataset('codaflow').table(table).delete();
  cloud.advance(1);
  await createTables(cloud.client);
}

async function run(cloud: JoinCloud, join: JoinSettings, gate?: Gate): Promise<void> {
  cloud.advance(120);
  await cloud.tick(join, {}, gate);
}

const ids = (cloud: JoinCloud) => cloud.results().map((row) => row['event_id']);
const position = (cloud: JoinCloud) => Number(cloud.store.read('cursors/enrich')!['position']);

test('an empty source: nothing is published, the cursor goes on', async () => {
  const { cloud, join } = await start();
  await run(cloud, join);
  const before = position(cloud);
  await run(cloud, join);
  assert.ok(position(cloud) > before);
  assert.deepEqual(ids(cloud), []);
});

test('a source that was made anew: its rows are published, whatever the cursor and the lookback', async () => {
  const { cloud, join } = await start();
  await run(cloud, join);
  await cloud.insert({ event_id: 'e-1' });
  await run(cloud, join);
  await recreate(cloud, 'events');
  await cloud.insert({ event_id: 'e-2' });
  for (let i = 0; i < 2; i++) await run(cloud, join);
  assert.deepEqual(ids(cloud), ['e-1', 'e-2']);
});

test('a tick at once after the source was made has nothing to read yet', async () => {
  const { cloud, join } = await start();
  await run(cloud, join);
  await recreate(cloud, 'events');
  await cloud.insert({ event_id: 'e-1' });
  const report = await cloud.tick(join);
  assert.deepEqual([report.outcome, report.windows], ['done', 0]);
  await run(cloud, join);
  assert.deepEqual(ids(cloud), ['e-1']);
});

test('a source that was made anew while a run was under way: the run is given up and planned anew', async () => {
  const { cloud, join } = await start();
  await run(cloud, join);
  await cloud.insert({ event_id: 'lost with its table' });
  let crash!: () => void;
  const crashed = new Promise<void>((resolve) => (crash = resolve));
  const stopping: Gate = {
    ...OPEN,
    before: ({ method, resource }) => {
      if (method !== 'start' || !resource.includes('_merge_0_')) return Promise.resolve();
      crash();
      return new Promise(() => undefined);
    },
  };
  run(cloud, join, stopping).catch(() => undefined);
  await crashed;
  await recreate(cloud, 'events');
  await cloud.insert({ event_id: 'e-2' });
  for (let i = 0; i < 4; i++) await run(cloud, join).catch(() => undefined);
  assert.deepEqual(ids(cloud), ['e-2']);
});

test('a source that is not there is an error of each tick; the cursor stays and goes on once it is there', async () => {
  const { cloud, join } = await start();
  await run(cloud, join);
  const before = position(cloud);
  await cloud.client.dataset('codaflow').table('events').delete();
  for (let i = 0; i < 3; i++) await assert.rejects(run(cloud, join), /events/);
  assert.equal(position(cloud), before);
  await createTables(cloud.client);
  await cloud.insert({ event_id: 'e-1' });
  await run(cloud, join);
  assert.deepEqual(ids(cloud), ['e-1']);
});

test('a ledger that was made anew: rows of the lookback come again, under the same ids and with the same content', async () => {
  const { cloud, join } = await start();
  await run(cloud, join);
  await cloud.insert({ event_id: 'e-1' });
  await run(cloud, join);
  await recreate(cloud, 'joined');
  for (let i = 0; i < 3; i++) await run(cloud, join);
  const sent = cloud.bus
    .published('results')
    .map(({ attributes, data }) => `${attributes['result_id']} ${String(data)}`);
  assert.equal(sent.length, 2);
  assert.equal(new Set(sent).size, 1);
});
