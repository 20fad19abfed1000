import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FakeBus } from '../../test/fakes/bus.ts';
import { fakeClock, fakeIds, START } from '../../test/fakes/clock.ts';
import { OPEN } from '../../test/fakes/gate.ts';
import { hanging, passUntil, type Course } from '../../test/fakes/hanging.ts';
import { FakeStore } from '../../test/fakes/store.ts';
import { FakeTable } from '../../test/fakes/tables.ts';
import { FakeWarehouse } from '../../test/fakes/warehouse.ts';
import { loadConfig } from '../config.ts';
import type { EventRow } from '../core/event.ts';
import { parseJoin } from '../core/join/settings.ts';
import type { Warehouse } from '../ports.ts';
import { untilTimeout } from './end.ts';
import { runJoin } from './run.ts';

/** As Terraform sets it. */
const FUNCTION_TIMEOUT = 540e6;
const MINUTE = 60e6;

/** A join whose calls take the courses that they are given, and whose jobs take so many waits. */
function setup(courses: readonly Course[], waits: readonly number[]) {
  const clock = fakeClock();
  const events = new FakeTable<EventRow>(() => clock.now());
  const bus = new FakeBus();
  const fake = new FakeWarehouse(events, () => clock.now());
  const inner = fake.port(OPEN);
  const waited = new Map<string, number>();
  let well = false;
  const warehouse: Warehouse = {
    ...inner,
    wait: async (id, ms) => {
      const before = waited.get(id) ?? 0;
      waited.set(id, before + 1);
      if (well || before >= waits[waited.size % waits.length]!) return inner.wait(id, ms);
      await clock.sleep(ms);
      return { state: 'running' };
    },
  };
  const all = { clock, ids: fakeIds(), store: new FakeStore().port(), bus: bus.port(OPEN), warehouse };
  const { ports } = hanging(all, clock, (_, place) => (well ? 'at once' : courses[place % courses.length]!));
  const config = loadConfig({ PROJECT_ID: 'local-project', JOIN_PAGE: '2' });
  const { joinLookback: lookback, joinStep: step, joinLag: lag, joinWait: wait, maxBytesBilled } = config;
  const defaults = { topic: 'results', lookback, step, lag, wait, maxBytesBilled };
  const join = parseJoin('enrich', 'SELECT * FROM new_events', { start: 'earliest' }, defaults);
  const tables = { source: 'p.d.events', ledger: 'p.d.joined' };
  const tick = () =>
    passUntil(clock, runJoin({ join, tables, config, log: () => undefined, ports: untilTimeout(ports, config) }));
  fake.reference.set('known', 'Known');
  for (let i = 0; i < 5; i++) {
    events.append([
      { event_id: `e${i}`, unique_key: 'k', event_status: 's', event_time: START, join_key: 'known', sequence: null, payload: null, extra: null, attributes: null, message_id: null, publish_time: null, ingest_time: START }, // prettier-ignore
    ]);
  }
  return { clock, bus, tick, recover: () => (well = true) };
}

test('whatever hangs, a tick ends before the function, and later ticks publish every row', async () => {
  const course = fc.oneof(
    { weight: 6, arbitrary: fc.constant<Course>('at once') },
    { weight: 1, arbitrary: fc.constantFrom<Course>('slow', 'contended', 'hangs', 'done, but hangs') },
  );
  const plan = fc.record({
    courses: fc.array(course, { minLength: 1, maxLength: 60 }),
    waits: fc.array(fc.integer({ min: 0, max: 16 }), { minLength: 1, maxLength: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ courses, waits }) => {
      const { clock, bus, tick, recover } = setup(courses, waits);
      for (let i = 0; i < 3; i++) {
        const start = clock.now();
        await tick().catch(() => undefined);
        assert.ok(clock.now() - start < FUNCTION_TIMEOUT, `a tick took ${(clock.now() - start) / 1e6} s`);
        clock.advance(2 * MINUTE);
      }
      recover();
      for (let i = 0; i < 8; i++) {
        // A job that was cancelled because it took too long fails the first of them.
        await tick().catch(() => undefined);
        clock.advance(10 * MINUTE);
      }
      const ids = bus
        .published('results')
        .map(({ data }) => (JSON.parse(String(data)) as { event_id: string }).event_id);
      assert.deepEqual([...new Set(ids)].sort(), ['e0', 'e1', 'e2', 'e3', 'e4']);
    }),
    { numRuns: 100 },
  );
});
