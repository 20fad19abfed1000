import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError, type TransientError } from '../core/errors.ts';
import { START } from '../../test/fakes/clock.ts';
import { OPEN, type Gate, type PortCall } from '../../test/fakes/gate.ts';
import { checkResults, config, faulty, MINUTE, published, start } from './fixture.ts';

/** Only calls about the jobs of one step. */
const about = (step: string) => (call: PortCall) => call.port === 'warehouse' && call.resource.includes(`_${step}_`);

test('a refused statement that another instance sends late cannot write rows that nobody publishes', async () => {
  const w = await start();
  w.insert('e1');
  w.advance(2 * MINUTE);
  // The first instance stops with its MERGE about to be sent; the second one's is refused, for a reason that passes.
  let send!: () => void;
  const sent = new Promise<void>((resolve) => (send = resolve));
  let stopped!: () => void;
  const stop = new Promise<void>((resolve) => (stopped = resolve));
  const stalled: Gate = {
    ...OPEN,
    before: async (call) => {
      if (call.method !== 'start' || !about('merge_0')(call)) return;
      stopped();
      await sent;
    },
  };
  const first = w.tick(stalled).catch((error: unknown) => error);
  await stop;
  w.advance(config.joinLease);
  let refusals = 0;
  const refusing: Gate = {
    ...OPEN,
    before: async (call) => {
      if (call.method === 'start' && about('merge_0')(call) && refusals++ === 0)
        throw new PermanentError('statement_refused', 'no such column, yet');
    },
  };
  await assert.rejects(w.tick(refusing), /no such column, yet/);
  send();
  assert.equal(((await first) as TransientError).code, 'lease_lost');
  w.warehouse.runJobs();
  for (let i = 0; i < 3; i++) {
    w.advance(2 * MINUTE);
    await w.tick();
  }
  assert.deepEqual(published(w), ['e1']);
  checkResults(w.bus.published('results'), w);
});

test('a job that does not end is cancelled but not given up: what it wrote after all is published once', async () => {
  const w = await start();
  w.insert('e1');
  w.advance(2 * MINUTE);
  let cancelled = '';
  w.warehouse.endsInTime = (id) => !id.includes('_merge_0_');
  const slow: Gate = {
    ...OPEN,
    before: async (call) => {
      if (call.method === 'wait' && about('merge_0')(call)) w.advance(MINUTE);
      if (call.method !== 'cancel') return;
      cancelled = call.resource;
      // It comes to its end while it is being cancelled.
      w.warehouse.runJob(cancelled);
    },
  };
  await assert.rejects(w.tick(slow), (error: TransientError) => error.code === 'deadline_exceeded');
  assert.notEqual(cancelled, '');
  assert.notEqual(w.cursor().run, null);
  await w.tick();
  assert.deepEqual(published(w), ['e1']);
});

test('a job that was cancelled in time is followed by a shorter window, and nothing is missed', async () => {
  const w = await start();
  w.insert('e1');
  w.advance(2 * MINUTE);
  w.warehouse.endsInTime = (id) => !id.includes('_merge_0_');
  const slow: Gate = {
    ...OPEN,
    before: async (call) => {
      if (call.method === 'wait' && about('merge_0')(call)) w.advance(MINUTE);
    },
  };
  await assert.rejects(w.tick(slow));
  w.warehouse.endsInTime = () => true;
  await assert.rejects(w.tick(), /stopped/);
  assert.equal(w.cursor().shrink, 1);
  await w.tick();
  assert.deepEqual(published(w), ['e1']);
});

test('the lease is renewed while a job is awaited: a tick in the tenth minute still answers busy', async () => {
  const w = await start();
  w.insert('e1');
  w.advance(2 * MINUTE);
  const outcomes: string[] = [];
  w.warehouse.endsInTime = (id) => !id.includes('_merge_0_') || outcomes.length === 5;
  const slow: Gate = {
    ...OPEN,
    after: async (call) => {
      if (call.method !== 'wait' || !about('merge_0')(call) || outcomes.length === 5) return;
      w.advance(MINUTE);
      outcomes.push((await w.tick()).outcome);
    },
  };
  await w.tick(slow);
  assert.deepEqual(outcomes, Array<string>(5).fill('busy'));
  assert.deepEqual(published(w), ['e1']);
});

test('more than 1,000 days in one window: several statements, every row once', async () => {
  const w = await start();
  for (let day = 0; day < 2100; day++) w.insert(`e${day}`, 'known', START - day * 86_400e6);
  w.advance(2 * MINUTE);
  await w.tick();
  const merges = [...w.warehouse.jobs.values()].filter(({ job }) => job.labels['codaflow_step'] === 'merge');
  assert.equal(merges.length, 3);
  assert.equal(published(w).length, 2100);
  assert.equal(new Set(published(w)).size, 2100);
});

test('a window of which one day cannot be merged: what was merged is published, the rest once it can be', async () => {
  const w = await start();
  for (let day = 0; day < 1500; day++) w.insert(`e${day}`, 'known', START - day * 86_400e6);
  w.advance(2 * MINUTE);
  w.warehouse.fate = ({ jobId }) =>
    jobId.includes('_merge_1_')
      ? { state: 'failed', reason: 'resourcesExceeded', message: 'too much', curable: false }
      : null;
  await assert.rejects(w.tick(), /could not be merged/);
  assert.equal(published(w).length, 1000);
  checkResults(w.bus.published('results'), w);
  w.warehouse.fate = () => null;
  await w.tick();
  assert.equal(published(w).length, 1500);
  assert.equal(new Set(published(w)).size, 1500);
});

test('a window that left time travel while its run lay still is planned anew, as a scan', async () => {
  const w = await start();
  w.insert('e1');
  w.advance(2 * MINUTE);
  const crash = new Promise<void>((resolve) => {
    const gate = faulty(new Map(), () => undefined);
    const stopping: Gate = {
      ...gate,
      before: (call) => {
        if (call.method !== 'start' || !about('probe')(call)) return Promise.resolve();
        resolve();
        return new Promise(() => undefined);
      },
    };
    w.tick(stopping).catch(() => undefined);
  });
  await crash;
  w.advance(8 * 24 * 60 * MINUTE);
  await assert.rejects(w.tick(), /time travel/);
  await w.tick();
  assert.deepEqual(published(w), ['e1']);
  assert.ok(w.logs.some(({ event }) => event === 'join.scan'));
});

test('a row that waits when time travel passes it by is not lost', async () => {
  const w = await start();
  w.insert('e1', 'new');
  w.advance(5 * MINUTE);
  await w.tick();
  assert.deepEqual(published(w), []);
  // The cursor is inside time travel still, the waiting row is not.
  w.advance(config.timeTravel - config.timeTravelMargin - 3 * MINUTE);
  await w.tick();
  assert.deepEqual(published(w), ['e1']);
});

test('counts that fail are a warning, not a stop', async () => {
  const w = await start();
  w.insert('e1');
  w.advance(2 * MINUTE);
  w.warehouse.fate = ({ labels }) =>
    labels['codaflow_step'] === 'counts'
      ? { state: 'failed', reason: 'quotaExceeded', message: 'quota', curable: true }
      : null;
  assert.equal((await w.tick()).outcome, 'done');
  assert.ok(w.logs.some(({ event }) => event === 'join.counts_failed'));
  assert.equal(w.cursor().run, null);
});
