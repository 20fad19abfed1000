import assert from 'node:assert/strict';
import { START } from '../fakes/clock.ts';
import type { PortCall } from '../fakes/gate.ts';
import type { Scenario } from './scenario.ts';
import { DAY, MINUTE, type World } from './world.ts';

const about = (method: string, step: string) => (call: PortCall) => call.port === 'warehouse' && call.method === method && call.resource.includes(`_${step}_`); // prettier-ignore
const IDS = ['e1', 'e2', 'e3', 'e4', 'e5'];

/** A join with a position, and five events that it has not seen. */
async function waiting(world: World): Promise<void> {
  await world.tick();
  world.insert(...IDS.map((id, i) => [id, START - i * DAY] as const));
  world.clock.advance(2 * MINUTE);
}

/** Whoever comes after the lease has run out ends the run: every event once, the cursor behind them. */
async function goOn(world: World): Promise<void> {
  world.clock.advance(world.config.joinLease);
  const before = world.cursor();
  const report = await world.tick();
  assert.equal(report.outcome, 'done');
  assert.deepEqual(world.results(), IDS);
  const after = world.cursor();
  assert.deepEqual([after.run, after.lease, after.failures], [null, null, 0]);
  assert.ok(after.token > before.token && after.position! > before.position!);
  assert.ok(after.position! > world.events.commits.at(-1)!.time);
  assert.equal(world.warehouse.ledger.length, IDS.length);
  // And what comes later comes once.
  world.insert(['later', START]);
  for (let i = 0; i < 2; i++) {
    world.clock.advance(2 * MINUTE);
    await world.tick();
  }
  assert.deepEqual(world.results(), [...IDS, 'later']);
}

const ends = { 'every event is published once, and the cursor moves on': goOn };
const isRun = (world: World, step: string): void => assert.equal(world.cursor().run?.step, step);

export const CURSORS: Readonly<Record<string, Scenario>> = {
  idle: { prepare: waiting, endings: ends },

  'saved before its probe': {
    prepare: async (world) => {
      await waiting(world);
      await world.crash(about('start', 'probe'), () => world.tick());
      assert.equal(world.cursor().run!.days, null);
    },
    endings: ends,
  },

  'after its probe': {
    prepare: async (world) => {
      await waiting(world);
      await world.crash(about('start', 'merge_0'), () => world.tick());
      isRun(world, 'merge-0');
    },
    endings: ends,
  },

  merging: {
    prepare: async (world) => {
      await waiting(world);
      await world.crash(about('wait', 'merge_0'), () => world.tick());
      isRun(world, 'merge-0');
    },
    endings: {
      ...ends,
      'its job ends while nobody looks': async (world) => {
        world.warehouse.runJobs();
        await goOn(world);
      },
    },
  },

  publishing: {
    prepare: async (world) => {
      await waiting(world);
      let pages = 0;
      await world.crash(({ port }) => port === 'bus' && ++pages === 2, () => world.tick()); // prettier-ignore
      assert.equal(world.cursor().run!.count, 2);
      assert.notEqual(world.cursor().run!.published, '');
    },
    endings: {
      'it goes on after what is confirmed': async (world) => {
        await goOn(world);
        assert.equal(world.bus.published('results').length, IDS.length + 1);
      },
    },
  },

  'a step that failed once': {
    prepare: async (world) => {
      await waiting(world);
      let failures = 0;
      world.warehouse.fate = ({ labels }) =>
        labels['codaflow_step'] === 'merge' && ++failures === 1
          ? { state: 'failed', reason: 'backendError', message: 'a hiccup', curable: true }
          : null;
      let starts = 0;
      await world.crash((call) => about('start', 'merge_0')(call) && ++starts === 2, () => world.tick()); // prettier-ignore
      assert.deepEqual([world.cursor().run!.attempt, world.cursor().failures], [2, 1]);
    },
    endings: ends,
  },

  'backfill in progress': {
    prepare: async (world) => {
      world.insert(...IDS.map((id, i) => [id, START - i * DAY] as const));
      world.clock.advance(2 * MINUTE);
      await world.tick();
      let pages = 0;
      const second = ({ port }: PortCall) => port === 'bus' && ++pages === 2;
      await world.crash(second, () => world.backfill(START - 4 * DAY, START + DAY, 2));
      assert.equal(world.cursor().run!.reads.kind, 'range');
    },
    endings: {
      'the same command ends it': async (world) => {
        world.clock.advance(world.config.joinLease);
        const found = world.cursor().backfill!;
        const report = await world.backfill(found.from, found.to, 2);
        assert.equal(report.outcome, 'done');
        assert.ok(report.found!.next > found.from);
        assert.deepEqual(world.results(), IDS);
        assert.deepEqual([world.cursor().run, world.cursor().backfill], [null, null]);
      },
      'a tick ends its step, and the command the rest': async (world) => {
        world.clock.advance(world.config.joinLease);
        const { from, to } = world.cursor().backfill!;
        await world.tick();
        assert.equal(world.cursor().run, null);
        await world.backfill(from, to, 2);
        assert.deepEqual(world.results(), IDS);
      },
    },
  },
};
