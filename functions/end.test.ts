import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FakeBus } from '../test/fakes/bus.ts';
import { fakeClock, fakeIds } from '../test/fakes/clock.ts';
import { OPEN } from '../test/fakes/gate.ts';
import { hanging, passUntil, type Course } from '../test/fakes/hanging.ts';
import { FakeStore } from '../test/fakes/store.ts';
import { FakeTable } from '../test/fakes/tables.ts';
import { FakeTasks } from '../test/fakes/tasks.ts';
import { loadConfig } from './config.ts';
import { TransientError } from './core/errors.ts';
import type { EventRow, SummaryRow } from './core/event.ts';
import { End } from './end.ts';
import * as finish from './finish.ts';
import type { Handler, HttpAnswer } from './http/handler.ts';
import * as ingest from './ingest.ts';
import * as poll from './poll.ts';
import type { Probes } from './ports.ts';
import * as submit from './submit.ts';
import * as sweep from './sweep.ts';

/** The timeout of every function but join, as Terraform sets it. */
const FUNCTION_TIMEOUT = 60e6;
const MINUTE = 60e6;

type Name = 'ingest' | 'submit' | 'finish' | 'sweep' | 'poll';

interface Sent {
  readonly name: Name;
  /** Microseconds after the start. */
  readonly at: number;
  readonly event: { readonly unique_key: string; readonly event_id: string; readonly event_status: string };
}

/** One instance of each function over ports whose calls take the course that the test gives them. */
class World {
  readonly clock = fakeClock();
  readonly store = new FakeStore();
  readonly bus = new FakeBus();
  readonly events = new FakeTable<EventRow>(() => this.clock.now());
  readonly summaries = new FakeTable<SummaryRow>(() => this.clock.now());
  course: (port: string, place: number) => Course = () => 'at once';
  readonly handlers: Readonly<Record<Name, Handler>>;
  readonly hanging;

  constructor(settings: Record<string, string> = {}) {
    const { clock } = this;
    const probes: Probes = {
      http: async () => ({ status: 200, body: '{"state": "ready"}' }),
      job: async () => ({ state: 'running' }),
    };
    const all = {
      clock,
      ids: fakeIds(),
      store: this.store.port(),
      bus: this.bus.port(OPEN),
      events: this.events.port('events', OPEN),
      summaries: this.summaries.port('summaries', OPEN),
      tasks: new FakeTasks(() => clock.now()).port(OPEN),
      probes,
    };
    this.hanging = hanging(all, clock, (port, place) => this.course(port, place));
    const config = loadConfig({ PROJECT_ID: 'local-project', PROBE_HOSTS: 'jobs.example.com', ...settings });
    const runtime = { config, ports: this.hanging.ports, log: () => undefined };
    this.handlers = {
      ingest: ingest.create(runtime),
      submit: submit.create(runtime),
      finish: finish.create(runtime),
      sweep: sweep.create(runtime),
      poll: poll.create(runtime),
    };
  }

  call(name: Name, body: object, headers: Record<string, string> = {}): Promise<HttpAnswer> {
    const request = { method: 'POST', path: '/', headers, body, rawBody: Buffer.from(JSON.stringify(body)) };
    return this.handlers[name](request, () => undefined);
  }

  send({ name, event }: Pick<Sent, 'name' | 'event'>): Promise<HttpAnswer> {
    const whole = { ...event, timestamp: '2024-01-05T10:00:00Z' };
    switch (name) {
      case 'submit':
        return this.call('submit', [whole]);
      case 'poll': {
        const probe = {
          type: 'http',
          url: 'https://jobs.example.com/1',
          ready: { pointer: '/state', equals: 'ready' },
        };
        return this.call('poll', {
          watch_id: `${event.unique_key}-${event.event_id}`,
          unique_key: event.unique_key,
          probe,
        });
      }
      default: {
        const data = Buffer.from(JSON.stringify(whole)).toString('base64');
        return this.call(name, { message: { data, attributes: {}, messageId: event.event_id }, subscription: name });
      }
    }
  }

  /** Whether the state of its key holds an event. */
  async holds({ unique_key, event_id }: Sent['event']): Promise<boolean> {
    const query = new URLSearchParams({ unique_key, event_id }).toString();
    const request = { method: 'GET', path: '/', query, headers: {}, body: null, rawBody: null };
    const { body } = await this.handlers.submit(request, () => undefined);
    return (body as { event: { held: boolean } }).event.held;
  }

  /** Everything works: sweeps and their hints, for some minutes. */
  async recover(): Promise<void> {
    this.course = () => 'at once';
    for (let minute = 0; minute < 5; minute++) {
      this.clock.advance(MINUTE);
      await this.call('sweep', {});
      for (const { data } of this.bus.topics.get('completions')?.splice(0) ?? []) {
        const message = { data: Buffer.from(data).toString('base64'), attributes: {} };
        await this.call('finish', { message, subscription: 'completions' });
      }
    }
  }
}

const stored = ({ status, body }: HttpAnswer): boolean =>
  status === 204 ||
  (status === 200 && (body as { results?: { outcome: string }[] }).results?.[0]?.outcome !== 'rejected');

const anySent: fc.Arbitrary<Sent> = fc
  .record({
    name: fc.constantFrom<Name>('ingest', 'ingest', 'submit', 'finish', 'finish', 'sweep', 'poll'),
    at: fc.integer({ min: 0, max: 40 }).map((seconds) => seconds * 1e6),
    key: fc.constantFrom('a', 'b', 'c'),
    id: fc.integer({ min: 0, max: 20 }),
  })
  .map(({ name, at, key, id }) => ({
    name,
    at,
    event: { unique_key: key, event_id: `e${id}`, event_status: id % 5 === 0 ? 'finished' : `step ${id}` },
  }));

const course = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Course>('at once') },
  { weight: 1, arbitrary: fc.constant<Course>('slow') },
  { weight: 1, arbitrary: fc.constant<Course>('contended') },
  { weight: 3, arbitrary: fc.constantFrom<Course>('hangs', 'done, but hangs') },
);

describe('the end of a request', () => {
  test('what could outlast it does not begin', async () => {
    const clock = fakeClock();
    const end = new End(clock.now() + 30e6, clock, 10e6);
    const table = new FakeTable<EventRow>(() => clock.now());
    const { events } = end.guard({ events: table.port('events', OPEN) });
    assert.deepEqual(
      [end.fits(3), end.fits(4), end.before(1).fits(3), end.within(5e6).fits()],
      [true, false, false, false],
    );
    clock.advance(20e6);
    assert.deepEqual(await events.append([]), []);
    clock.advance(1);
    await assert.rejects(events.append([]), (error: TransientError) => error.code === 'deadline_exceeded');
  });

  test('whatever hangs, every request is answered in time, and what is acknowledged is there', async () => {
    const plan = fc.record({
      sent: fc.array(anySent, { minLength: 1, maxLength: 25 }),
      // The first calls fail together more often than chance would have it.
      outage: fc.option(fc.constantFrom('store', 'bus', 'events', 'summaries'), { nil: null }),
      courses: fc.array(course, { minLength: 1, maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ sent, outage, courses }) => {
        const world = new World();
        const { clock } = world;
        // Something to sweep and to finish.
        await world.send({ name: 'ingest', event: { unique_key: 'c', event_id: 'e0', event_status: 'finished' } });
        clock.advance(2 * MINUTE);
        world.course = (port, place) => (port === outage ? 'hangs' : courses[place % courses.length]!);

        const start = clock.now();
        const acknowledged: Sent[] = [];
        const requests = sent.map(async (one) => {
          await clock.sleep(one.at / 1000);
          const answer = await world.send(one);
          const took = clock.now() - start - one.at;
          assert.ok(took < FUNCTION_TIMEOUT, `${one.name} took ${took / 1e6} s`);
          if (answer.status >= 400) {
            assert.ok(answer.status === 429 || answer.status === 503, `${one.name}: ${answer.status}`);
            assert.ok(Number(answer.headers?.['retry-after']) > 0);
          } else if ((one.name === 'ingest' || one.name === 'submit') && stored(answer)) acknowledged.push(one);
        });
        await passUntil(clock, Promise.all(requests));
        assert.equal(world.hanging.underWay(), 0, 'nothing goes on after the last answer');

        world.course = () => 'at once';
        const rows = new Set(world.events.commits.map(({ row }) => `${row.unique_key} ${row.event_id}`));
        for (const { event } of acknowledged) {
          assert.ok(rows.has(`${event.unique_key} ${event.event_id}`));
          assert.ok(await world.holds(event));
        }
        await world.recover();
        const summarised = new Set(world.summaries.commits.map(({ row }) => row.unique_key));
        for (const { event } of acknowledged) {
          if (event.event_status === 'finished') assert.ok(summarised.has(event.unique_key), 'a summary is missing');
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('backpressure', () => {
  const BYTES = 100_000;
  const SETTINGS = { PENDING_BYTES: '1MiB', GROUP_BYTES: '1MiB' };
  const event = (i: number) => ({
    unique_key: `k${i}`,
    event_id: 'e',
    event_status: 'step',
    payload: 'x'.repeat(BYTES),
  });

  for (const slow of ['events', 'store']) {
    test(`while ${slow} hangs, what passes the bound is refused at once, what waits in time`, async () => {
      const world = new World(SETTINGS);
      const { clock } = world;
      world.course = (port) => (port === slow ? 'hangs' : 'at once');
      const start = clock.now();
      const answered: { readonly status: number; readonly after: number }[] = [];
      const requests = Array.from({ length: 500 }, async (_, i) => {
        // Half of them at once, the others over a minute.
        await clock.sleep(Math.max(0, i - 250) * 250);
        const sent = clock.now();
        const { status, headers } = await world.send({ name: 'ingest', event: event(i) });
        assert.ok(Number(headers?.['retry-after']) > 0);
        answered.push({ status, after: clock.now() - sent });
        if (sent === start) held--;
      });
      let held = 250;
      await passUntil(clock, clock.sleep(1));
      // One group that runs, and the others as far as the bound of waiting bytes.
      assert.ok(held <= 1 + 2 ** 20 / BYTES, `${held} are held`);
      assert.ok(answered.every(({ status, after }) => status === 429 && after === 0));
      await passUntil(clock, Promise.all(requests));
      assert.ok(answered.every(({ after }) => after < FUNCTION_TIMEOUT));
      assert.deepEqual(new Set(answered.map(({ status }) => status)), new Set([429, 503]));
      // It is over as soon as the service is well again.
      world.course = () => 'at once';
      assert.equal((await world.send({ name: 'ingest', event: event(0) })).status, 204);
    });
  }
});
