import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { START } from '../fakes/clock.ts';
import type { Call } from './faults.ts';
import { all, is, once, play, publish } from './story.ts';
import type { World } from './world.ts';

const MINUTE = 60e6;
/** The instance that served last. */
let turn = 0;
const DAY_MS = 86_400_000;

/** A call about a job of one step. */
const isJob = (method: string, step: string) => (call: Call) =>
  call.port === 'warehouse' && call.method === method && call.resource.includes(`_${step}_`);

function cursorOf(world: World) {
  return world.store.read('cursors/enrich')!;
}

const joined = (id: string, at = 0, time = 0) => publish(id, { at, time, joinKey: 'known' });

describe('a join under faults', () => {
  it('a run that lost its lease changes nothing while the next one resumes, ends and begins another window', async () => {
    const world = await loseTheLease(600_000, 0);
    assert.equal(cursorOf(world)['run'], null);
  });

  it('a run that lost its lease does not give back the lease of another', async () => {
    await loseTheLease(125_000, 60_000);
  });

  it('a cursor inside the margin of the time-travel edge loses nothing', async () => {
    const world = await play({
      join: true,
      settings: { TIME_TRAVEL: '3h', JOIN_STEP: '20m' },
      messages: [joined('e0'), joined('e6', 15 * 60_000), joined('e2', 120 * 60_000)],
      director: { ticks: (entry, minute) => (entry === 'join' && minute > 4 && minute < 150 ? 0 : 1) },
    });
    assert.equal(world.bus.published('results').length, 3);
  });

  it('probe and MERGE seeing different days: rows that became visible in between come with the lookback', async () => {
    const world = await play({
      join: true,
      instances: 2,
      // e5 is on another day and visible five minutes after its commit; e0 at once.
      messages: [joined('e0'), joined('e5', 0, -DAY_MS)],
      fault: once(isJob('start', 'merge_0'), { kind: 'stalled', ms: 360_000 }),
    });
    assert.equal(world.bus.published('results').length >= 2, true);
  });

  it('a job that is created after its creator gave up waiting is attached to', async () => {
    const world = await play({
      join: true,
      messages: [joined('e0'), joined('e6')],
      fault: once(isJob('start', 'merge_0'), { kind: 'happens later', ms: 3_000 }),
    });
    const merges = [...world.warehouse.jobs.values()].filter(({ job }) => job.labels['codaflow_step'] === 'merge');
    const runs = new Set(merges.map(({ job }) => job.parameters['run_id']!.value));
    assert.equal(merges.length, runs.size, 'a run has one MERGE');
  });

  it('whoever resumes a run finds its MERGE instead of starting another', async () => {
    const world = await play({
      join: true,
      messages: [joined('e0'), joined('e6')],
      fault: once(isJob('wait', 'merge_0'), { kind: 'crash before' }),
    });
    const merges = [...world.warehouse.jobs.values()].filter(({ job }) => job.labels['codaflow_step'] === 'merge');
    const runs = new Set(merges.map(({ job }) => job.parameters['run_id']!.value));
    assert.equal(merges.length, runs.size, 'a run has one MERGE');
  });

  it('a failed attempt of a MERGE is followed by the next id, and each row is published once', async () => {
    let failures = 2;
    const world = await play({
      join: true,
      messages: [joined('e0'), joined('e6')],
      prepare: ({ warehouse }) => {
        warehouse.fate = ({ labels }) =>
          labels['codaflow_step'] === 'merge' && failures-- > 0
            ? { state: 'failed', reason: 'backendError', message: 'try again', curable: true }
            : null;
      },
    });
    assert.equal(world.bus.published('results').length, 2);
  });

  it('a read whose result expired goes on after the last confirmed row', async () => {
    const expired = new Set<string>();
    const world = await play({
      join: true,
      settings: { JOIN_PAGE: '1' },
      messages: [joined('e0'), joined('e6'), joined('e12')],
      fault: (call, one) => {
        if (!isJob('page', 'read')(call)) return undefined;
        const job = one.warehouse.jobs.get(call.resource)!;
        // The second page of the first read finds nothing any more.
        if (expired.size === 0 && one.bus.published('results').length === 1) {
          expired.add(call.resource);
          job.resultExpired = true;
        }
        return undefined;
      },
    });
    assert.equal(expired.size, 1);
    assert.equal(world.bus.published('results').length, 3);
  });

  it('a job attempt given up that commits late: its rows are published once', async () => {
    let over = false;
    const world = await play({
      join: true,
      messages: [joined('e0'), joined('e6')],
      // The MERGE outlasts the patience of its run, and ends before the cancellation arrives.
      prepare: ({ warehouse }) => (warehouse.endsInTime = (id) => over || !id.includes('_merge_0_')),
      fault: (call) => {
        over ||= call.method === 'cancel';
        if (call.method === 'cancel') return { kind: 'happens later', ms: 150_000 };
        return isJob('wait', 'merge_0')(call) && !over ? { kind: 'stalled', ms: 60_000 } : undefined;
      },
    });
    assert.ok(world.callsMade.some(({ method }) => method === 'cancel'));
    assert.equal(world.bus.published('results').length, 2);
  });

  it('a page of which half was published is published whole before the progress is saved', async () => {
    for (const part of ['first', 'last'] as const) {
      const world = await play({
        join: true,
        messages: [joined('e0'), joined('e6')],
        fault: once(is('join bus.publish'), { kind: 'partly', part }),
      });
      assert.equal(world.bus.published('results').length, 2);
    }
  });

  it('two runs that begin in one moment: one of them has the lease', async () => {
    const world = await play({
      join: true,
      instances: 2,
      messages: [joined('e0')],
      director: { ticks: (e) => (e === 'join' ? 2 : 1), instance: () => (turn = 1 - turn) },
    });
    assert.equal(world.bus.published('results').length, 1);
  });

  it('a page whose publication failed is published again before the progress is saved', async () => {
    const world = await play({
      join: true,
      messages: [joined('e0')],
      fault: once(is('join bus.publish'), { kind: 'refused' }),
    });
    assert.equal(world.bus.published('results').length, 1);
    assert.ok(world.clock.now() > START + MINUTE);
  });

  it('a second run while the first one is alive does nothing', async () => {
    const world = await play({
      join: true,
      messages: [joined('e0')],
      director: { ticks: (e) => (e === 'join' ? 2 : 1) },
    });
    assert.ok(world.logged.length > 0);
    assert.equal(world.bus.published('results').length, 1);
  });
});

/** The run of instance 0 stalls with its page and loses its lease to instance 1, which stalls as well. */
async function loseTheLease(first: number, second: number): Promise<World> {
  let late = 0;
  let world!: World;
  const stalls = [
    once(isJob('page', 'read'), { kind: 'stalled', ms: first }),
    once(isJob('page', 'read'), { kind: 'stalled', ms: second }, 2),
  ];
  await play({
    join: true,
    instances: 2,
    messages: [joined('e0'), joined('e6', 300_000)],
    prepare: (one) => {
      world = one;
      const watch = one.store.onCommit;
      one.store.onCommit = (changes) => {
        watch(changes);
        if (one.acting?.place === 0 && one.clock.now() > START + 4 * MINUTE && changes.has('cursors/enrich')) late++;
      };
    },
    director: { instance: () => (world.clock.now() < START + 3 * MINUTE ? 0 : 1) },
    fault: all(...stalls),
  });
  assert.ok(Number(cursorOf(world)['token']) > 3, 'no second run took over');
  assert.equal(late, 0, 'the first run wrote to the cursor after it had lost its lease');
  return world;
}
