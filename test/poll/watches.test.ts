import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { select } from '../../local/demo/observe.ts';
import { seeded } from '../../local/demo/random.ts';
import type { Fault } from '../../local/shared/faults.ts';
import { startPollCloud, type PollCloud } from './cloud.ts';

/** `WATCHES=1000 SPEED=1` shows the delays of a machine that keeps up. */
const WATCHES = Number(process.env['WATCHES'] ?? 200);
const INTERVAL_S = 10;
/** Seconds within which the items become ready. */
const SPAN_S = 60;
/** One in so many is never ready. */
const NEVER = 20;
const TIMEOUT_S = 120;
/** Share of the calls at which an instance dies. */
const DEATHS = 0.003;

/** Items that become ready, each at its time; anybody may ask. */
async function startItems(t: TestContext, readyAt: readonly number[], now: () => number) {
  const server = http.createServer(({ url }, response) => {
    const item = Number(url!.slice(1));
    response.end(JSON.stringify({ item, state: now() >= readyAt[item]! ? 'ready' : 'working' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function trouble(random: () => number, method: string): Fault | undefined {
  const dice = random();
  switch (method) {
    case 'enqueue':
      return dice < 0.05 ? { kind: 'refuse' } : undefined;
    case 'CreateTask':
      return dice < 0.03 ? { kind: 'lose_answer' } : dice < 0.06 ? { kind: 'refuse' } : undefined;
    case 'dispatch':
    case 'push':
      if (dice < 0.1) return { kind: 'deliver_twice' };
      if (dice < 0.15) return { kind: 'lose_answer' };
      if (dice < 0.18) return { kind: 'refuse' };
      return dice < 0.22 ? { kind: 'delay', ms: 100 } : undefined;
    default:
      return undefined;
  }
}

/** Asks until there is an answer: an instance that dies gives none. */
async function ask(url: string, init?: RequestInit): Promise<{ status: number; body: Record<string, unknown> }> {
  for (;;) {
    try {
      const response = await fetch(url, init);
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    } catch (error) {
      // Of fetch, when the connection broke.
      if (!(error instanceof TypeError)) throw error;
    }
  }
}

async function settled(cloud: PollCloud, total: number): Promise<void> {
  for (;;) {
    await cloud.sweep();
    const snapshot = await cloud.clients.firestore.collection('watches').where('confirmed', '==', true).count().get();
    if (snapshot.data().count === total && cloud.backlog() === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

test(
  `${WATCHES} watches under repeats, losses and crashes: each event once, none missed`,
  { timeout: 300_000 },
  async (t) => {
    const random = seeded(7);
    const readyAt: number[] = [];
    let now = () => 0;
    const port = await startItems(t, readyAt, () => now());
    const settings = { PROBE_HOSTS: `127.0.0.1:${port}`, PROBE_PRIVATE: 'true', WATCH_SLACK: '20s', WAKE_SHARDS: '4' };
    const dice = seeded(8);
    const cloud = await startPollCloud(settings, ({ method }) => trouble(random, method), () => dice() < DEATHS); // prettier-ignore
    t.after(() => cloud.stop());
    now = () => cloud.clock.now();

    const start = now();
    for (let i = 0; i < WATCHES; i++) readyAt.push(i % NEVER === 0 ? Infinity : start + random() * SPAN_S * 1e6);
    const watches = readyAt.map((_, i) => ({
      watch_id: `watch-${i}`,
      unique_key: `item-${i}`,
      probe: { type: 'http', url: `http://127.0.0.1:${port}/${i}`, ready: { pointer: '/state', equals: 'ready' } },
      interval: `${INTERVAL_S}s`,
      timeout: `${TIMEOUT_S}s`,
    }));
    // Half of them by messages, half by requests.
    const topic = cloud.clients.pubsub.topic('watches');
    await Promise.all(
      watches.map(async (watch, i) => {
        if (i % 2 === 0) await topic.publishMessage({ json: watch });
        else
          assert.match(
            String((await ask(cloud.poll, { method: 'POST', body: JSON.stringify(watch) })).status),
            /20[01]/,
          );
      }),
    );
    await settled(cloud, WATCHES);

    const rows = await select(
      cloud.clients.bigquery,
      `SELECT unique_key, event_id, event_status, payload, UNIX_MICROS(event_time) AS micros FROM events_unique`,
    );
    const byKey = new Map(rows.map((row) => [String(row['unique_key']), row]));
    assert.equal(rows.length, WATCHES, 'one event for each watch');
    assert.equal(byKey.size, WATCHES);
    const delays: number[] = [];
    for (const [i, at] of readyAt.entries()) {
      const row = byKey.get(`item-${i}`)!;
      const { body: described } = await ask(`${cloud.poll}?watch_id=watch-${i}`);
      assert.equal(row['event_id'], described['event_id']);
      if (at === Infinity) {
        assert.equal(row['event_status'], 'timed_out');
        continue;
      }
      assert.equal(row['event_status'], 'ready');
      assert.deepEqual(JSON.parse(String(row['payload'])), { item: i, state: 'ready' });
      delays.push((Number(row['micros']) - Math.max(at, start)) / 1e6);
    }
    delays.sort((a, b) => a - b);
    const [median, p99] = [0.5, 0.99].map((share) => delays[Math.floor(share * delays.length)]!.toFixed(1));
    t.diagnostic(`${cloud.deaths()} crashes`);
    assert.ok(cloud.deaths() > 0);
    t.diagnostic(`interval ${INTERVAL_S} s; from ready to decided: median ${median} s, p99 ${p99} s`);
    assert.ok(delays[0]! >= 0, 'nothing is told before it is so');
    assert.ok(cloud.tasks.meter.get('tasks.operations') < WATCHES * 60, 'no chain has forked');
  },
);
