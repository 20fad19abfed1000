import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readState, sequencePath } from '../../functions/keys/documents.ts';
import type { EventOutcome } from '../../functions/submit/outcomes.ts';
import { seeded } from '../../local/demo/random.ts';
import { PROJECT, QUEUE_RETRIES, QUEUES, REGION } from '../../local/resources.ts';
import { FakeTime } from '../../local/shared/fake-time.ts';
import { Faults } from '../../local/shared/faults.ts';
import { fromMs } from '../../local/shared/wire.ts';
import { startTasks } from '../../local/tasks/server.ts';
import { tasksClient } from '../../local/writes.ts';
import { startTarget, type Attempt } from './target.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

/** `npm run test:ci` takes 10,000. */
const TASKS = Number(process.env['TASKS'] ?? 1000);
const HOUR = 3_600_000;
const STEP = 50;
/** Unlike any other wait, so that the deadline of an attempt is told from the other timers. */
const DISPATCH_DEADLINE = 1_234_000;

/** Simulated time that counts attempts under way instead of timing them out. */
class TaskTime extends FakeTime {
  underWay = 0;
  override setTimeout(fn: () => void, ms: number): () => void {
    if (ms !== DISPATCH_DEADLINE) return super.setTimeout(fn, ms);
    this.underWay++;
    let over = false;
    return () => {
      if (!over) this.underWay--;
      over = true;
    };
  }
}

interface Write {
  readonly unique_key: string;
  readonly event_id: string;
  readonly event_status?: string;
  readonly timestamp: string;
}

/** A third repeats an earlier one under a task of its own; one in fifty can never succeed. */
function writes(random: () => number, now: number): readonly Write[] {
  const timestamp = new Date(now).toISOString();
  const distinct = Array.from({ length: TASKS - Math.floor(TASKS / 3) }, (_, i) => ({
    unique_key: `order-${i % Math.ceil(TASKS / 10)}`,
    event_id: `e-${i}`,
    ...(i % 50 !== 49 && { event_status: i % 7 === 6 ? 'completed' : 'started' }),
    timestamp,
  }));
  const repeats = Array.from({ length: TASKS - distinct.length }, (_, i) => distinct[(i * 7) % distinct.length]!);
  const ranked = [...distinct, ...repeats].map((write) => ({ write, rank: random() }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ write }) => write);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

const identity = (one: { unique_key: string | null; event_id: string | null }) => `${one.unique_key} ${one.event_id}`;
const outcomeOf = ({ answer }: Attempt): EventOutcome => (answer.body as { results: EventOutcome[] }).results[0]!;

test(`${TASKS} tasks, a third of them repeats, up to an hour ahead, in two queues`, async (t) => {
  const random = seeded(5);
  const time = new TaskTime();
  const target = await startTarget(time, () => random() < 0.01);
  const faults = new Faults(({ method }) => {
    const dice = method === 'dispatch' ? random() : 1;
    if (dice < 0.01) return { kind: 'refuse' };
    if (dice < 0.02) return { kind: 'lose_answer' };
    return dice < 0.03 ? { kind: 'deliver_twice' } : undefined;
  });
  const server = await startTasks({ time, faults });
  const client = tasksClient(server.address);
  t.after(async () => {
    await client.close();
    await server.stop();
    await target.stop();
  });
  const parent = client.locationPath(PROJECT, REGION);
  for (const [name, rateLimits] of Object.entries(QUEUES)) {
    const queue = { name: client.queuePath(PROJECT, REGION, name), rateLimits, retryConfig: QUEUE_RETRIES };
    await client.createQueue({ parent, queue });
  }

  const start = time.now();
  const all = writes(random, start);
  // Crowds at three moments saturate both queues; the rest is spread over the hour.
  const plans = all.map((write, i) => {
    const delay = random() < 0.8 ? (1 + (i % 3)) * (HOUR / 3) : Math.ceil(random() * HOUR);
    return { write, at: start + delay, queue: random() < 0.5 ? 'codaflow-urgent' : 'codaflow-bulk' };
  });
  const due = new Map<string, number>();
  const create = async ({ write, at, queue }: (typeof plans)[number]) => {
    const [task] = await client.createTask({
      parent: client.queuePath(PROJECT, REGION, queue),
      task: {
        scheduleTime: fromMs(at),
        dispatchDeadline: fromMs(DISPATCH_DEADLINE),
        httpRequest: { url: target.url, body: Buffer.from(JSON.stringify(write)) },
      },
    });
    due.set(task.name!.split('/').at(-1)!, at);
  };
  for (let i = 0; i < plans.length; i += 100) await Promise.all(plans.slice(i, i + 100).map(create));
  assert.equal(server.size, TASKS);

  while (!server.idle()) {
    time.advance(STEP);
    do await new Promise((resolve) => setImmediate(resolve));
    while (time.underWay > 0);
    assert.ok(time.now() < start + 2 * HOUR, `${server.size} tasks are left`);
  }

  const { attempts, table, store, bus } = target;
  const valid = all.filter((write) => write.event_status !== undefined);
  const ids = new Set(valid.map(identity));
  assert.deepEqual(new Set(table.commits.map(({ row }) => identity(row))), ids, 'a row for each event');
  for (const key of new Set(valid.map((write) => write.unique_key))) {
    const held = [...ids].filter((id) => id.startsWith(`${key} `)).length;
    assert.equal(readState(store.read(sequencePath(key)))!.fold.count, held, key);
  }

  assert.deepEqual(new Set(attempts.map(({ task }) => task)), new Set(due.keys()), 'every task came');
  const stored = attempts.filter((one) => outcomeOf(one).outcome === 'stored').map((one) => identity(outcomeOf(one)));
  assert.deepEqual(stored.toSorted(), [...ids].toSorted(), 'each event stored once, whatever came again');
  for (const attempt of attempts) {
    const { outcome, code } = outcomeOf(attempt);
    assert.equal(attempt.answer.status, outcome === 'undecided' ? 503 : 200);
    if (outcome === 'rejected') assert.equal(code, 'missing_field');
    assert.equal(outcome === 'rejected', !ids.has(identity(outcomeOf(attempt))) && outcome !== 'undecided');
  }
  const invalid = new Set(all.filter((write) => write.event_status === undefined).map(identity));
  const dead = bus
    .published('deadLetters')
    .map(({ data }) => identity(JSON.parse(Buffer.from(data).toString()) as Write));
  assert.deepEqual(new Set(dead), invalid);

  const first = attempts.filter((one) => one.first);
  assert.ok(first.every(({ delay }) => delay >= 0), 'none before its time'); // prettier-ignore
  const delays = (queue: string) => first.filter((one) => one.queue === queue).map((one) => one.delay);
  const [urgent, bulk] = [median(delays('codaflow-urgent')), median(delays('codaflow-bulk'))];
  t.diagnostic(`median delay: urgent ${urgent} ms, bulk ${bulk} ms; ${attempts.length} attempts`);
  assert.ok(urgent < bulk);
  assert.ok(Math.min(urgent, bulk) > 2 * STEP, 'both were saturated');
});
