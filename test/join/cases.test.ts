import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import type { JoinSettings } from '../../functions/core/join/settings.ts';
import type { JoinReport } from '../../functions/join/run.ts';
import { OPEN, type Gate, type PortCall } from '../fakes/gate.ts';
import { JoinCloud, text } from './cloud.ts';

/** How cursors of incremental SQL have failed elsewhere, each as a sequence on the local BigQuery. */

process.env['METADATA_SERVER_DETECTION'] = 'none';

const FOLDER = path.resolve(import.meta.dirname, '../../joins/enrich');
const QUERY = readFileSync(path.join(FOLDER, 'query.sql'), 'utf8');
const FILE = JSON.parse(readFileSync(path.join(FOLDER, 'join.json'), 'utf8')) as Record<string, unknown>;
const clouds: JoinCloud[] = [];
after(async () => {
  for (const cloud of clouds) await cloud.stop();
});

async function start(file: Readonly<Record<string, unknown>> = {}) {
  const cloud = await JoinCloud.start();
  clouds.push(cloud);
  const join = cloud.join('enrich', QUERY, { ...FILE, ...file });
  await cloud.reference('cust_7', 'Seven');
  await cloud.tick(join);
  return { cloud, join };
}

async function run(cloud: JoinCloud, join: JoinSettings, gate?: Gate): Promise<JoinReport> {
  cloud.advance(120);
  return cloud.tick(join, {}, gate);
}

const ids = (cloud: JoinCloud) => cloud.results().map((row) => row['event_id']);

const position = (cloud: JoinCloud) => cloud.store.read('cursors/enrich')!['position'] as string;

/** One content for each result id. */
function contents(cloud: JoinCloud): Map<string, string> {
  const found = new Map<string, string>();
  for (const { attributes, data } of cloud.bus.published('results')) {
    const id = attributes['result_id']!;
    assert.equal(found.get(id) ?? String(data), String(data));
    found.set(id, String(data));
  }
  return found;
}

/** Stops for ever at the first call like this; `stopped` resolves then, `go` lets it go on. */
function stopAt(matches: (call: PortCall) => boolean) {
  let go!: () => void;
  const going = new Promise<void>((resolve) => (go = resolve));
  let met = false;
  let gate!: Gate;
  const stopped = new Promise<void>((resolve) => {
    gate = {
      ...OPEN,
      before: async (call) => {
        if (met || !matches(call)) return;
        met = true;
        resolve();
        await going;
      },
    };
  });
  return { gate, stopped, go };
}

test('CUR-01 rows of one arrival time that become visible before and after a run are each published once', async () => {
  const { cloud, join } = await start();
  const ingest_time = text(cloud.now);
  await cloud.insert({ event_id: 'e-1', ingest_time });
  await run(cloud, join);
  await cloud.insert({ event_id: 'e-2', ingest_time });
  await run(cloud, join);
  assert.deepEqual(ids(cloud), ['e-1', 'e-2']);
});

test('CUR-02 the row at the boundary is not published again by every run', async () => {
  const { cloud, join } = await start();
  await cloud.insert({ event_id: 'e-1' });
  for (let i = 0; i < 3; i++) await run(cloud, join);
  assert.deepEqual(ids(cloud), ['e-1']);
});

test('CUR-04 an event that is 150 days late by its own time is published', async () => {
  const { cloud, join } = await start();
  await cloud.insert({ event_id: 'e-1' });
  await run(cloud, join);
  await cloud.insert({ event_id: 'e-2', event_time: text(cloud.now - 157 * 86_400e6) });
  await run(cloud, join);
  assert.deepEqual(ids(cloud), ['e-1', 'e-2']);
});

test('CUR-05 the stored cursor has all digits of the microseconds', async () => {
  const { cloud, join } = await start();
  cloud.advance(0.184708);
  await cloud.insert({ event_id: 'e-1' });
  for (let i = 0; i < 2; i++) await run(cloud, join);
  assert.deepEqual(ids(cloud), ['e-1']);
  assert.match(position(cloud), /^\d{16}$/);
  assert.notEqual(Number(position(cloud)) % 1000, 0);
});

test('CUR-07 of two runs at a time one is busy, with success', async () => {
  const { cloud, join } = await start();
  await cloud.insert({ event_id: 'e-1' });
  cloud.advance(120);
  const reports = await Promise.all([cloud.tick(join), cloud.tick(join)]);
  assert.deepEqual(reports.map(({ outcome }) => outcome).sort(), ['busy', 'done']);
  assert.deepEqual(ids(cloud), ['e-1']);
});

test('CUR-08 a run that hung before it saved, and wakes after another, moves nothing back and publishes nothing else', async () => {
  const { cloud, join } = await start();
  await cloud.insert({ event_id: 'e-1' });
  let published = false;
  const { gate, stopped, go } = stopAt(({ port, method }) => {
    published ||= port === 'bus';
    return published && method === 'commit';
  });
  const first = run(cloud, join, gate).catch((error: unknown) => (error as { code: string }).code);
  await stopped;
  await cloud.insert({ event_id: 'e-2' });
  // The second run ends what the first one left, then one takes e-2.
  for (let i = 0; i < 2; i++) await run(cloud, join);
  const reached = position(cloud);
  go();
  assert.equal(await first, 'lease_lost');
  assert.equal(position(cloud), reached);
  // The page was published before the run hung: e-1 came again, under one id and with one content.
  assert.deepEqual([...new Set(ids(cloud))], ['e-1', 'e-2']);
  assert.equal(contents(cloud).size, 2);
});

test('CUR-10 a crash before the publication: the next run publishes', async () => {
  const { cloud, join } = await start();
  await cloud.insert({ event_id: 'e-1' });
  const { gate, stopped } = stopAt(({ port }) => port === 'bus');
  run(cloud, join, gate).catch(() => undefined);
  await stopped;
  cloud.advance(120);
  await run(cloud, join);
  assert.deepEqual(ids(cloud), ['e-1']);
});

test('CUR-11 an event far in the future does not take the cursor along', async () => {
  const { cloud, join } = await start();
  await cloud.insert({ event_id: 'e-1', event_time: text(cloud.now + 300 * 86_400e6) });
  await run(cloud, join);
  await cloud.insert({ event_id: 'e-2' });
  await run(cloud, join);
  assert.deepEqual(ids(cloud), ['e-1', 'e-2']);
  assert.ok(Number(position(cloud)) <= cloud.now);
});

test('CUR-13 after a long stop the window goes in bounded steps, each saved, within a budget', async () => {
  const { cloud, join } = await start({ step: '1h' });
  for (let hour = 0; hour < 6; hour++) {
    await cloud.insert(...Array.from({ length: 50 }, (_, i) => ({ event_id: `e-${hour}-${i}` })));
    cloud.advance(3600);
  }
  const outcomes: string[] = [];
  const spend: Gate = {
    ...OPEN,
    before: async ({ port }) => {
      if (port === 'bus') cloud.advance(10);
    },
  };
  for (let i = 0; i < 20 && outcomes.at(-1) !== 'done'; i++)
    outcomes.push((await cloud.tick(join, { JOIN_BUDGET: '5s' }, spend)).outcome);
  assert.ok(outcomes.filter((outcome) => outcome === 'more').length >= 5, outcomes.join(' '));
  assert.equal(new Set(ids(cloud)).size, 300);
  assert.equal(ids(cloud).length, 300);
});

test('CUR-14 of two reference rows for a key the latest survives, the other is counted', async () => {
  const { cloud, join } = await start();
  await cloud.reference('cust_9', 'A', '2024-01-01 00:00:00+00');
  await cloud.reference('cust_9', 'B', '2024-01-02 00:00:00+00');
  await cloud.insert({ event_id: 'e-1', join_key: 'cust_9' });
  await run(cloud, join);
  assert.deepEqual(
    cloud.results().map((row) => row['target_attribute']),
    ['B'],
  );
  assert.ok(!('updated_at' in cloud.results()[0]!));
  assert.equal(cloud.logs.findLast(({ event }) => event === 'join.window')!['surplus'], 1);
});

test('CUR-16 a reference row that comes after its event: the event waits for it, and has one content', async () => {
  const { cloud, join } = await start();
  await cloud.insert({ event_id: 'e-1', join_key: 'cust_8' });
  await run(cloud, join);
  await cloud.reference('cust_8', 'late');
  for (let i = 0; i < 8; i++) await run(cloud, join);
  assert.deepEqual(
    cloud.results().map((row) => row['target_attribute']),
    ['late'],
  );
});
