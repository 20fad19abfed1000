import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { loadConfig } from '../../functions/config.ts';
import { startCloud, type Cloud } from '../../local/cloud.ts';
import { PROJECT } from '../../local/resources.ts';
import { canary, type Found } from '../../scripts/canary/run.ts';

const config = (env: Readonly<Record<string, string>> = {}) => loadConfig({ PROJECT_ID: 'local-project', ...env });

/** A world in which what is found changes from look to look; the last stays. */
function world(...looks: readonly Found[]) {
  const published: Readonly<Record<string, unknown>>[] = [];
  let [now, look] = [Date.UTC(2024, 0, 5), 0];
  return {
    published,
    looks: () => look,
    publish: async (event: Readonly<Record<string, unknown>>) => void published.push(event),
    find: async () => looks[Math.min(look++, looks.length - 1)]!,
    now: () => now,
    sleep: async (ms: number) => void (now += ms),
  };
}

const [NOTHING, HALF, ALL] = [
  { event: false, summary: false },
  { event: true, summary: false },
  { event: true, summary: true },
];

test('it looks until event and summary are there', async () => {
  const given = world(NOTHING, HALF, ALL);
  const { key, ...found } = await canary(given, config(), 60_000);
  assert.deepEqual([found, given.looks()], [ALL, 3]);
  assert.deepEqual(given.published, [
    { unique_key: key, event_id: 'canary', event_status: 'completed', timestamp: '2024-01-05T00:00:00.000Z' },
  ]);
});

test('what was dropped is told when the time is over', async () => {
  const given = world(NOTHING, HALF);
  const { event, summary } = await canary(given, config(), 60_000);
  assert.deepEqual([event, summary, given.looks(), given.published.length], [true, false, 13, 1]);
});

test('names and statuses are those that are set', async () => {
  const given = world(ALL);
  await canary(given, config({ EVENT_FIELDS: 'unique_key=order', COMPLETION_STATUSES: 'shipped' }), 0);
  const [event] = given.published;
  assert.match(String(event!['order']), /^codaflow-canary-/);
  assert.equal(event!['event_status'], 'shipped');
});

let cloud: Cloud;
before(async () => {
  cloud = await startCloud({ everySeconds: { join: 3600, sweep: 3600 } });
});
after(() => cloud.stop());

async function run(...args: readonly string[]): Promise<{ readonly code: number | null; readonly out: string }> {
  const script = path.resolve(import.meta.dirname, '../../scripts/canary.ts');
  const env = { ...process.env, ...cloud.addresses, METADATA_SERVER_DETECTION: 'none' };
  const child = spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, out };
}

test('the command finds its event in a cloud that works, and not where nothing is stored', async () => {
  const { code, out } = await run('--project', PROJECT);
  assert.deepEqual([code, /is in events_unique and in summaries_latest/.test(out)], [0, true], out);
  await cloud.functions.ingest.kill();
  const without = await run('--project', PROJECT, '--wait', '0');
  assert.deepEqual([without.code, /is not in events_unique and summaries_latest/.test(without.out)], [1, true]);
});

test('a wrong command line', async () => {
  assert.equal((await run()).code, 2);
  assert.equal((await run('--project', PROJECT, '--colour', 'red')).code, 2);
});
