import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { START } from '../fakes/clock.ts';
import { livesOf } from './items.ts';
import { all, cancel, is, NO_SWEEP, once, outcomesOf, play, publish, summariesOf, watchFor } from './story.ts';
import type { World } from './world.ts';

const FIRES = is('poll queue.fire');
const LOOKS = is('poll probes.http');
const decided = (world: World) => (livesOf.get(world)![0]!.decided!.at - START) / 1e6;
const looks = (world: World) => livesOf.get(world)!.flatMap((life) => life.looks.map(({ attempt }) => attempt));

describe('a watch under faults', () => {
  it('a watch that becomes ready: its event completes its key', async () => {
    const world = await play({ messages: [publish('e1'), watchFor('w1', { readyAt: 30_000, completes: true })] });
    assert.deepEqual(outcomesOf(world), ['ready']);
    assert.deepEqual(summariesOf(world), ['1 finished complete 2']);
    assert.ok(decided(world) < 51);
  });

  it('a watch that becomes ready as it times out is ready, a moment later it has timed out', async () => {
    const at = (readyAt: number) => play({ messages: [watchFor('w1', { readyAt, interval: 25, timeout: 60 })] });
    assert.deepEqual(outcomesOf(await at(60_000)), ['ready']);
    assert.deepEqual(outcomesOf(await at(60_001)), ['timed_out']);
  });

  it('what is ready at the timeout is ready, even where a look from before it is answered after it', async () => {
    const world = await play({
      messages: [watchFor('w1', { readyAt: 55_000, interval: 50, timeout: 60 })],
      // Begun before 50 s and answered when the time of the watch is over.
      fault: once(LOOKS, { kind: 'answered late', ms: 35_000 }, 2),
    });
    assert.deepEqual(outcomesOf(world), ['ready']);
  });

  it('a lost task is found by sweep, and the chain goes on', async () => {
    const world = await play({
      messages: [watchFor('w1', { readyAt: 30_000 })],
      fault: once(FIRES, { kind: 'lost' }, 2),
    });
    assert.deepEqual(outcomesOf(world), ['ready']);
    assert.deepEqual(looks(world), [1, 2]);
    assert.ok(decided(world) > 120 && decided(world) < 240, `${decided(world)} s`);
  });

  it('a task that fires twice starts no second chain', async () => {
    const world = await play({
      messages: [watchFor('w1', { timeout: 200 })],
      instances: 2,
      fault: once(FIRES, { kind: 'twice', ms: 0 }, 2),
    });
    const twice = looks(world).filter((attempt, i, list) => list[i - 1] === attempt);
    assert.deepEqual(twice, [2]);
  });

  it('a look that is answered when later attempts were made changes nothing', async () => {
    const world = await play({
      messages: [watchFor('w1', { timeout: 200, interval: 10 })],
      instances: 2,
      fault: all(once(FIRES, { kind: 'twice', ms: 0 }), once(LOOKS, { kind: 'answered late', ms: 40_000 })),
    });
    assert.deepEqual(outcomesOf(world), ['timed_out']);
  });

  it('a task that fires after its name was forgotten starts no second chain', async () => {
    const world = await play({
      messages: [watchFor('w1', { timeout: 9000, interval: 600 })],
      fault: once(FIRES, { kind: 'twice', ms: 7_200_000 }),
    });
    assert.equal(new Set(looks(world)).size, looks(world).length);
  });

  it('a cancellation that races readiness: one outcome, whichever was first', async () => {
    const outcomes = new Set<string>();
    for (const ms of [3_000, 35_000]) {
      const world = await play({
        messages: [watchFor('w1', { readyAt: 0, by: 'post' }), cancel('w1', 10_000)],
        fault: once(LOOKS, { kind: 'answered late', ms }),
      });
      assert.equal(outcomesOf(world).length, 1);
      outcomes.add(outcomesOf(world)[0]!);
    }
    assert.deepEqual([...outcomes].sort(), ['cancelled', 'ready']);
  });

  it('a cancellation that comes after the outcome changes nothing', async () => {
    const world = await play({ messages: [watchFor('w1', { readyAt: 0 }), cancel('w1', 60_000)] });
    assert.deepEqual(outcomesOf(world), ['ready']);
  });

  it('an event whose publication was refused is published before the watch is done', async () => {
    const world = await play({
      messages: [watchFor('w1', { readyAt: 0 })],
      fault: once(is('poll bus.publish'), { kind: 'refused' }),
    });
    assert.deepEqual(outcomesOf(world), ['ready']);
  });

  it('a crash between publication and confirmation repeats the same event', async () => {
    const world = await play({
      messages: [watchFor('w1', { readyAt: 0 })],
      fault: once(is('poll bus.publish'), { kind: 'crash after' }),
    });
    assert.equal(world.bus.published('events').length, 2);
    assert.deepEqual(outcomesOf(world), ['ready']);
  });

  it('no task asks for an attempt that the state does not know, even where its commit never happens', async () => {
    const commit = is('poll store.commit');
    const world = await play({
      messages: [watchFor('w1', { readyAt: 30_000 })],
      fault: once(commit, { kind: 'crash before' }, 2),
    });
    assert.deepEqual(outcomesOf(world), ['ready']);
  });

  it('a task of a watch that was forgotten does nothing to the next one of its id', async () => {
    const world = await play({
      messages: [watchFor('w1', { lostAt: 0, readyAt: 100_000 }), watchFor('w1', { readyAt: 100_000, at: 4_500_000 })],
      settings: { STATE_RETENTION: '60m' },
      ttl: true,
      // It fires again while the second life looks for the first time.
      fault: all(once(FIRES, { kind: 'twice', ms: 4_510_000 }), once(LOOKS, { kind: 'stalled', ms: 35_000 }, 2)),
    });
    assert.deepEqual(outcomesOf(world), ['failed', 'ready']);
    assert.deepEqual(looks(world), [1, 1]);
  });

  it('the event id that a watch names from the beginning is that of its event, whatever the outcome', async () => {
    const kinds = { ready: { readyAt: 30_000 }, failed: { lostAt: 30_000 }, timed_out: {}, cancelled: {} };
    for (const [kind, how] of Object.entries(kinds)) {
      const cancelled = kind === 'cancelled' ? [cancel('w1', 30_000)] : [];
      const world = await play({ messages: [watchFor('w1', { ...how, by: 'post' }), ...cancelled] });
      assert.deepEqual(outcomesOf(world), [kind]);
      assert.equal(livesOf.get(world)![0]!.shown.size, 1);
    }
  });

  it('an instance that dies before it arms the next attempt: the repeat of its task does', async () => {
    const world = await play({
      messages: [watchFor('w1', { readyAt: 30_000, completes: true })],
      fault: once(is('poll tasks.create'), { kind: 'crash before' }, 2),
      director: NO_SWEEP,
    });
    assert.deepEqual(outcomesOf(world), ['ready']);
  });
});
