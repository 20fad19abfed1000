import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeBus } from '../../test/fakes/bus.ts';
import { fakeClock } from '../../test/fakes/clock.ts';
import { OPEN, through, type Gate, type PortCall } from '../../test/fakes/gate.ts';
import { FakeStore } from '../../test/fakes/store.ts';
import { FakeTasks } from '../../test/fakes/tasks.ts';
import { loadConfig } from '../config.ts';
import { AmbiguousError, PermanentError, TransientError } from '../core/errors.ts';
import type { HttpAnswer } from '../http/handler.ts';
import type { LogEntry } from '../log.ts';
import { create } from '../poll.ts';
import { create as createSweep } from '../sweep.ts';

const MINUTE = 60e6;
const CONFIG = loadConfig({ PROJECT_ID: 'local-project', PROBE_HOSTS: 'api.example.com' });
const WATCH = {
  watch_id: 'w',
  unique_key: 'k',
  probe: { type: 'http', url: 'https://api.example.com/x', ready: { pointer: '/status', equals: 'done' } },
  interval: '30s',
  timeout: '10m',
};

/** The functions `poll` and `sweep` with everything around them, in memory. */
class World {
  readonly clock = fakeClock();
  readonly store = new FakeStore();
  readonly bus = new FakeBus();
  readonly tasks = new FakeTasks(() => this.clock.now());
  readonly logged: LogEntry[] = [];
  /** What the probe is answered. */
  status: () => string | Error = () => 'doing';
  readonly log = (entry: LogEntry): void => void this.logged.push(entry);

  #runtime(gate: Gate) {
    const http = () =>
      through(gate, { port: 'tasks', method: 'probe', resource: '' }, () => {
        const status = this.status();
        if (status instanceof Error) throw status;
        return { status: 200, body: JSON.stringify({ status }) };
      });
    const job = () => Promise.reject(new Error('no jobs here'));
    const ports = {
      clock: this.clock,
      store: this.store.port(gate),
      bus: this.bus.port(gate),
      tasks: this.tasks.port(gate),
      probes: { http, job },
    };
    return { config: CONFIG, ports, log: this.log };
  }

  request(method: string, body: unknown, headers: Record<string, string> = {}, gate = OPEN): Promise<HttpAnswer> {
    const rawBody = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const query = method === 'POST' ? '' : `watch_id=${String(body)}`;
    return create(this.#runtime(gate))({ method, path: '/', query, headers, body: undefined, rawBody }, this.log);
  }

  /** Runs the tasks that are due; one that is not answered 2xx comes again at once, a few times. */
  async run(gate = OPEN, repeats = 1): Promise<void> {
    for (const { name, body } of this.tasks.take(this.clock.now())) {
      for (let retry = 0, left = repeats; retry < 20 && left > 0; retry++) {
        const headers = { 'x-cloudtasks-taskname': name, 'x-cloudtasks-taskretrycount': String(retry) };
        const { status } = await this.request('POST', body, headers, gate);
        assert.ok(status === 200 || status === 503 || status === 429, `a task is answered ${status}`);
        if (status === 200) left--;
      }
    }
  }

  sweep(gate = OPEN): Promise<HttpAnswer> {
    const request = { method: 'POST', path: '/', headers: {}, body: null, rawBody: null };
    return createSweep(this.#runtime(gate))(request, this.log);
  }

  /** Minutes of nothing but tasks and sweeps. */
  async minutes(count: number): Promise<void> {
    for (let i = 0; i < count * 2; i++) {
      this.clock.advance(MINUTE / 2);
      if (i % 2 === 0) await this.sweep();
      await this.run();
    }
  }

  /** The events that were published: each id with its one content. */
  events(): Record<string, unknown>[] {
    const byId = new Map<string, string>();
    for (const { data } of this.bus.published('events')) {
      const { event_id: id } = JSON.parse(data as string) as { event_id: string };
      assert.equal(data, byId.get(id) ?? data, 'one content for an id');
      byId.set(id, data as string);
    }
    return [...byId.values()].map((text) => JSON.parse(text) as Record<string, unknown>);
  }

  document() {
    return [...this.store.dump().values()].find((one) => one['watch_id'] === 'w');
  }
}

const statusOf = (event: Record<string, unknown> | undefined) => event?.['event_status'];

describe('a watch', () => {
  it('is looked at until it is ready, then its event is published once and it is done', async () => {
    const world = new World();
    const created = await world.request('POST', WATCH);
    assert.equal(created.status, 201);
    await world.run();
    await world.minutes(2);
    assert.equal(world.events().length, 0);
    world.status = () => 'done';
    await world.minutes(1);
    const [event] = world.events();
    assert.deepEqual([event!['unique_key'], statusOf(event), event!['payload']], ['k', 'ready', { status: 'done' }]);
    assert.equal(event!['event_id'], (created.body as Record<string, unknown>)['event_id']);
    assert.equal(world.document()!['wake_at'], undefined);
    assert.ok(Number(world.document()!['expire_at']) > world.clock.now());
    await world.minutes(20);
    assert.equal(world.bus.published('events').length, 1);
    assert.equal(world.tasks.take(Infinity).length, 0, 'no task is left');
  });

  it('takes the same creation as often as it comes, and refuses another under its id', async () => {
    const world = new World();
    assert.equal((await world.request('POST', WATCH)).status, 201);
    assert.equal((await world.request('POST', WATCH)).status, 200);
    assert.equal((await world.request('POST', { ...WATCH, timeout: '1h' })).status, 409);
    assert.equal(world.tasks.all.size, 1);
    for (const wrong of [{ ...WATCH, probe: { type: 'http', url: 'https://other.example.com/' } }, {}, 'no json', []]) {
      assert.equal((await world.request('POST', wrong)).status, 400);
    }
  });

  it('times out, fails and is cancelled as events', async () => {
    const timed = new World();
    await timed.request('POST', WATCH);
    await timed.run();
    await timed.minutes(12);
    assert.equal(statusOf(timed.events()[0]), 'timed_out');

    const failed = new World();
    failed.status = () => new PermanentError('invalid_watch', 'it redirects to another host');
    await failed.request('POST', WATCH);
    await failed.run();
    const [event] = failed.events();
    assert.equal(statusOf(event), 'failed');
    assert.deepEqual(event!['watch'], { watch_id: 'w', outcome: 'failed', reason: 'it redirects to another host', attempts: 1 }); // prettier-ignore

    const cancelled = new World();
    await cancelled.request('POST', WATCH);
    const answer = await cancelled.request('DELETE', 'w');
    assert.equal((answer.body as Record<string, unknown>)['state'], 'cancelled');
    cancelled.status = () => 'done';
    await cancelled.minutes(5);
    assert.deepEqual(cancelled.events().map(statusOf), ['cancelled']);
    assert.equal((await cancelled.request('DELETE', 'x')).status, 404);
  });

  it('goes on when every task is lost, and when every answer of the probe fails', async () => {
    const world = new World();
    world.status = () => new TransientError('unavailable', 'no answer');
    await world.request('POST', WATCH);
    for (let i = 0; i < 4; i++) {
      world.tasks.lose();
      await world.minutes(3);
    }
    assert.deepEqual(world.events().map(statusOf), ['timed_out']);
  });

  it('attempts that come twice, or long after, start no second chain', async () => {
    const world = new World();
    await world.request('POST', WATCH);
    for (let i = 0; i < 10; i++) {
      await world.run(OPEN, 3);
      world.clock.advance(MINUTE / 2);
    }
    assert.ok(world.tasks.all.size <= 11, `${world.tasks.all.size} tasks`);
    for (const { body, name } of [...world.tasks.all.values()].slice(0, -1)) {
      const answer = await world.request('POST', body, { 'x-cloudtasks-taskname': name });
      assert.deepEqual(answer.body, { result: 'stale' });
    }
  });

  it('a task whose successor was not armed is repeated until it is', async () => {
    const world = new World();
    await world.request('POST', WATCH);
    const { name, body } = world.tasks.take(Infinity)[0]!;
    const headers = { 'x-cloudtasks-taskname': name };
    const no = new TransientError('unavailable', 'no');
    const refuse: Gate = {
      ...OPEN,
      before: ({ method }) => (method === 'create' ? Promise.reject(no) : Promise.resolve()),
    };
    assert.equal((await world.request('POST', body, headers, refuse)).status, 503);
    assert.deepEqual((await world.request('POST', body, headers)).body, { result: 'stale' });
    assert.match(world.tasks.take(Infinity)[0]!.body, /"attempt":2/);
  });

  it('what is no task of ours is not repeated; one that fails long is left to sweep', async () => {
    const world = new World();
    const headers = { 'x-cloudtasks-taskname': 't' };
    for (const body of ['', 'x', '{}', { watch_id: 'w', generation: 'x', attempt: 1 }]) {
      assert.equal((await world.request('POST', body, headers)).status, 200);
    }
    await world.request('POST', WATCH);
    const { body } = world.tasks.take(Infinity)[0]!;
    const gate: Gate = { ...OPEN, before: async () => Promise.reject(new TransientError('unavailable', 'down')) };
    const at = (retry: number) =>
      world.request('POST', body, { ...headers, 'x-cloudtasks-taskretrycount': String(retry) }, gate);
    assert.equal((await at(0)).status, 503);
    assert.deepEqual((await at(9)).body, { result: 'left_to_sweep' });
  });

  it('logs nothing of a message that is no watch', async () => {
    const world = new World();
    const data = Buffer.from('Bearer sk-live-1').toString('base64');
    const answer = await world.request('POST', { message: { data, messageId: '7' }, subscription: 's' });
    assert.equal(answer.status, 204);
    assert.equal(world.bus.published('deadLetters').length, 1);
    assert.doesNotMatch(JSON.stringify(world.logged), /sk-live/);
  });

  it('is created by a message; what can never succeed becomes a dead letter', async () => {
    const world = new World();
    const push = (data: string) =>
      world.request('POST', {
        message: { data: Buffer.from(data).toString('base64'), messageId: '7' },
        subscription: 's',
      });
    for (let i = 0; i < 2; i++) assert.equal((await push(JSON.stringify(WATCH))).status, 204);
    assert.equal(world.bus.published('deadLetters').length, 0);
    assert.ok(world.document());
    const never = [JSON.stringify({ ...WATCH, timeout: '1h' }), '{', JSON.stringify({ watch_id: 'x' }), ' '.repeat(9_000_000)]; // prettier-ignore
    for (const data of never) assert.equal((await push(data)).status, 204);
    const reasons = world.bus.published('deadLetters').map(({ attributes }) => attributes['reason']);
    assert.deepEqual(reasons, ['watch_conflict', 'invalid_json', 'invalid_watch', 'too_large']);
    assert.equal((await world.request('POST', { message: 7 })).status, 400);
    assert.equal((await world.request('POST', ' '.repeat(300_000))).status, 413);
  });
});

/** Rejects at the n-th point (two for each call), then lives on or is dead. Tells whether it got there. */
function faultAt(n: number, fault: 'fail' | 'crash'): Gate & { reached: boolean } {
  let count = 0;
  const point = async (_call: PortCall, error: Error): Promise<void> => {
    const here = count++ === n;
    gate.reached ||= here;
    if (fault === 'crash' ? gate.reached : here) throw error;
  };
  const gate = {
    reached: false,
    before: (call: PortCall) => point(call, new TransientError('unavailable', 'refused')),
    after: (call: PortCall) => point(call, new AmbiguousError('the answer was lost')),
  };
  return gate;
}

describe('a fault at any call', () => {
  /** How a watch ends, every call through the gate. */
  const stories: Readonly<Record<string, { wanted: string; run: (world: World, gate: Gate) => Promise<void> }>> = {
    'of a watch that becomes ready': {
      wanted: 'ready',
      run: async (world, gate) => {
        await world.request('POST', WATCH, {}, gate);
        await world.run(gate);
        world.clock.advance(MINUTE / 2);
        await world.run(gate);
        world.status = () => 'done';
        world.tasks.lose();
        world.clock.advance(3 * MINUTE);
        await world.sweep(gate);
        await world.run(gate);
      },
    },
    'of a watch that is cancelled': {
      wanted: 'cancelled',
      run: async (world, gate) => {
        await world.request('POST', WATCH, {}, gate);
        await world.run(gate);
        await world.request('DELETE', 'w', {}, gate);
      },
    },
  };
  for (const [name, { wanted, run }] of Object.entries(stories)) {
    for (const fault of ['fail', 'crash'] as const) {
      it(`${name} is repaired by the caller's repeat and wake-ups alone (${fault})`, async () => {
        let points = 0;
        for (; ; points++) {
          const world = new World();
          const gate = faultAt(points, fault);
          await run(world, gate);
          if (!gate.reached) break;
          // Every task is lost; whoever got no answer asks again.
          world.tasks.lose();
          await world.request('POST', WATCH);
          if (wanted === 'cancelled') await world.request('DELETE', 'w');
          else world.status = () => 'done';
          await world.minutes(10);
          const events = world.events();
          assert.deepEqual(events.map(statusOf), [wanted], `fault at point ${points}`);
          assert.equal(world.document()!['confirmed'], true, `fault at point ${points}`);
          assert.equal(world.document()!['wake_at'], undefined, `fault at point ${points}`);
        }
        assert.ok(points > 15, `only ${points} points`);
      });
    }
  }
});
