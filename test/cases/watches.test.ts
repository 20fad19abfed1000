import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadConfig } from '../../functions/config.ts';
import { TransientError } from '../../functions/core/errors.ts';
import type { LogEntry } from '../../functions/log.ts';
import * as poll from '../../functions/poll.ts';
import type { Task } from '../../functions/ports.ts';
import * as sweep from '../../functions/sweep.ts';
import { FakeBus } from '../fakes/bus.ts';
import { fakeClock } from '../fakes/clock.ts';
import { OPEN, type PortCall } from '../fakes/gate.ts';
import { FakeStore } from '../fakes/store.ts';
import { FakeTasks } from '../fakes/tasks.ts';
import { HOUR, MINUTE } from './event.ts';

/** How chains of tasks that look at something failed elsewhere. The timers of keys: test/keys/timers.test.ts. */

const CONFIG = loadConfig({ PROJECT_ID: 'local-project', PROBE_HOSTS: 'api.example.com' });
const WATCH = {
  watch_id: 'w',
  unique_key: 'order_001',
  probe: { type: 'http', url: 'https://api.example.com/x', ready: { pointer: '/status', equals: 'done' } },
  interval: '30s',
  timeout: '10m',
};

/** The functions `poll` and `sweep` over fakes. */
class Watches {
  readonly clock = fakeClock();
  readonly store = new FakeStore();
  readonly bus = new FakeBus();
  readonly tasks = new FakeTasks(() => this.clock.now());
  readonly logged: LogEntry[] = [];
  /** What the probe is answered. */
  answer: () => string = () => '{"status":"doing"}';
  /** Called before each call of `poll`; one that throws prevents it. */
  onCall: (call: PortCall) => void = () => undefined;
  readonly #log = (entry: LogEntry): void => void this.logged.push(entry);

  #runtime(before: (call: PortCall) => void) {
    const gate = { ...OPEN, before: async (call: PortCall) => before(call) };
    const probes = {
      http: async () => ({ status: 200, body: this.answer() }),
      job: () => Promise.reject(new Error('no jobs here')),
    };
    const { clock } = this;
    const ports = {
      clock,
      store: this.store.port(gate),
      bus: this.bus.port(gate),
      tasks: this.tasks.port(gate),
      probes,
    };
    return { config: CONFIG, ports, log: this.#log };
  }

  async #poll(body: string, headers: Readonly<Record<string, string>> = {}) {
    const rawBody = Buffer.from(body);
    const handler = poll.create(this.#runtime((call) => this.onCall(call)));
    return handler({ method: 'POST', path: '/', query: '', headers, body: undefined, rawBody }, this.#log);
  }

  async create(changes: object = {}): Promise<number> {
    return (await this.#poll(JSON.stringify({ ...WATCH, ...changes }))).status;
  }

  /** One attempt of a task: the status, and what became of it. */
  async attempt({ name, body }: Task, retry = 0): Promise<readonly [number, unknown]> {
    const headers = { 'x-cloudtasks-taskname': name, 'x-cloudtasks-taskretrycount': String(retry) };
    const answer = await this.#poll(body, headers);
    return [answer.status, (answer.body as Record<string, unknown> | undefined)?.['result']];
  }

  async sweep(): Promise<void> {
    const handler = sweep.create(this.#runtime(() => undefined));
    await handler({ method: 'POST', path: '/', headers: {}, body: null, rawBody: null }, this.#log);
  }

  /** Lets time pass with tasks, each tried up to ten times more, and sweeps. */
  async pass(duration: number, step = MINUTE / 2): Promise<void> {
    for (const end = this.clock.now() + duration; this.clock.now() < end;) {
      this.clock.advance(step);
      await this.sweep();
      for (const task of this.tasks.take(this.clock.now())) {
        for (let retry = 0; retry <= 10; retry++) if ((await this.attempt(task, retry))[0] === 200) break;
      }
    }
  }

  get created(): readonly Task[] {
    return [...this.tasks.all.values()];
  }

  /** Statuses of the events that were published. */
  events(): unknown[] {
    return this.bus.published('events').map(({ data }) => (JSON.parse(data as string) as Record<string, unknown>)['event_status']); // prettier-ignore
  }
}

describe('timers of watches', () => {
  test('TMR-01: no task has a name that another one had: not the next, not a lost one again, not in a new life', async () => {
    const watches = new Watches();
    const names: string[] = [];
    watches.tasks.onCreate = ({ name }) => void names.push(name);
    for (let life = 0; life < 2; life++) {
      assert.equal(await watches.create(), 201);
      // The same creation again arms the same attempt: its name is taken, which is success.
      const before = names.length;
      assert.equal(await watches.create(), 200);
      assert.equal(names.length, before);
      for (const task of watches.tasks.take(watches.clock.now())) await watches.attempt(task);
      watches.tasks.lose();
      await watches.pass(12 * MINUTE);
      assert.equal(watches.events().length, life + 1);
      watches.clock.advance(36 * 24 * HOUR);
      assert.equal(watches.store.expire(watches.clock.now()), 1);
    }
    assert.ok(names.length > 10);
    assert.equal(new Set(names).size, names.length);
  });

  test('TMR-02: a task that comes twice, or when its watch is gone, is done and does nothing', async () => {
    const watches = new Watches();
    watches.answer = () => '{"status":"done"}';
    await watches.create();
    const [task] = watches.tasks.take(watches.clock.now());
    assert.deepEqual(await watches.attempt(task!), [200, 'done']);
    assert.deepEqual(await watches.attempt(task!), [200, 'done']);
    assert.deepEqual(watches.events(), ['ready']);
    watches.clock.advance(36 * 24 * HOUR);
    assert.equal(watches.store.expire(watches.clock.now()), 1);
    assert.deepEqual(await watches.attempt(task!), [200, 'gone']);
    assert.deepEqual(watches.events(), ['ready']);
    assert.equal(watches.created.length, 1);
  });

  test('TMR-04: a task says where to look and no more, however large the answers and the watch are', async () => {
    const watches = new Watches();
    watches.answer = () => JSON.stringify({ status: 'doing', text: 'x'.repeat(300_000) });
    const body = 'x'.repeat(16 * 1024);
    assert.equal(await watches.create({ probe: { ...WATCH.probe, method: 'POST', body } }), 201);
    await watches.pass(3 * MINUTE);
    assert.ok(watches.created.length > 3);
    for (const task of watches.created) {
      assert.deepEqual(Object.keys(JSON.parse(task.body) as object), ['watch_id', 'generation', 'attempt']);
      assert.ok(JSON.stringify(task).length < 500);
    }
  });

  test('TMR-05: of two runs of one task at once one is taken, and there is one next task', async () => {
    const watches = new Watches();
    await watches.create();
    const [task] = watches.tasks.take(watches.clock.now());
    const results = await Promise.all([watches.attempt(task!), watches.attempt(task!)]);
    assert.ok(results.every(([status]) => status === 200));
    assert.equal(watches.created.length, 2);
    assert.deepEqual(await watches.attempt(task!, 1), [200, 'stale']);
    assert.equal(watches.created.length, 2);
    assert.equal((JSON.parse(watches.created[1]!.body) as { attempt: number }).attempt, 2);
  });

  test('TMR-07: a look that never works is let go after ten attempts of a task, tried ever more rarely, and reported', async () => {
    const watches = new Watches();
    await watches.create();
    let calls = 0;
    watches.onCall = ({ port, method }) => {
      if (port !== 'store' || method !== 'commit') return;
      calls++;
      throw new TransientError('unavailable', 'down');
    };
    const [task] = watches.tasks.take(watches.clock.now());
    for (let retry = 0; retry < 9; retry++) assert.deepEqual((await watches.attempt(task!, retry))[0], 503);
    assert.deepEqual(await watches.attempt(task!, 9), [200, 'left_to_sweep']);
    await watches.pass(24 * HOUR, 5 * MINUTE);
    const stuck = watches.logged.filter((line) => line.event === 'sweep.stuck');
    assert.ok(stuck.length > 0, 'reported');
    assert.deepEqual([stuck[0]!['severity'], stuck[0]!['name'], stuck[0]!['attempts']], ['ERROR', 'w', 20]);
    assert.ok(watches.created.length < 40, `${watches.created.length} tasks in a day`);
    assert.ok(calls > 0);
    watches.onCall = () => undefined;
    await watches.pass(2 * HOUR, 5 * MINUTE);
    assert.deepEqual(watches.events(), ['timed_out']);
  });

  test('TMR-08: no task could be created: the watch is there, and the sweep arms it without anybody asking', async () => {
    const watches = new Watches();
    let refused = 0;
    watches.onCall = ({ port }) => {
      if (port !== 'tasks' || refused > 0) return;
      refused++;
      throw new TransientError('deadline_exceeded', 'DEADLINE_EXCEEDED');
    };
    assert.equal(await watches.create(), 201);
    assert.deepEqual([refused, watches.created.length], [1, 0]);
    watches.answer = () => '{"status":"done"}';
    await watches.pass(4 * MINUTE);
    assert.deepEqual(watches.events(), ['ready']);
  });

  test('TMR-08: a task whose successor could not be created is not done, and its repeat creates it', async () => {
    const watches = new Watches();
    await watches.create();
    const [task] = watches.tasks.take(watches.clock.now());
    watches.onCall = ({ port }) => {
      if (port === 'tasks') throw new TransientError('deadline_exceeded', 'DEADLINE_EXCEEDED');
    };
    assert.equal((await watches.attempt(task!))[0], 503);
    watches.onCall = () => undefined;
    assert.equal((await watches.attempt(task!, 1))[0], 200);
    assert.equal(watches.created.length, 2);
  });

  test('TMR-11: a watch has one task that waits, whatever comes in between', async () => {
    const watches = new Watches();
    await watches.create();
    for (let i = 0; i < 10; i++) {
      await watches.create();
      const due = watches.tasks.take(watches.clock.now());
      assert.equal(due.length, 1);
      for (let repeat = 0; repeat < 3; repeat++) await watches.attempt(due[0]!, repeat);
      watches.clock.advance(MINUTE / 2);
    }
    assert.equal(watches.created.length, 11);
  });
});
