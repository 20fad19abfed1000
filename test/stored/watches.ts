import assert from 'node:assert/strict';
import type { Scenario } from './scenario.ts';
import { MINUTE, type World } from './world.ts';

const WATCH = {
  watch_id: 'report/1',
  unique_key: 'k',
  probe: { type: 'http', url: 'https://api.example.com/x', ready: { pointer: '/status', equals: 'done' }, headers: { authorization: { secret: 'KEY' } } }, // prettier-ignore
  interval: '30s',
  backoff: 2,
  timeout: '1h',
};

async function create(world: World): Promise<void> {
  assert.equal((await world.poll(JSON.stringify(WATCH))).status, 201);
}

/** The event of the outcome was published under one id, and the watch rests. */
function checkDone(world: World, status: string): void {
  const events = world.bus.published('events').map(({ data }) => JSON.parse(String(data)) as Record<string, unknown>);
  assert.ok(events.length > 0);
  assert.deepEqual(new Set(events.map((event) => event['event_status'])), new Set([status]));
  assert.equal(new Set(events.map((event) => JSON.stringify(event))).size, 1);
  const { confirmed, wake_at: wakeAt, expire_at: expireAt } = world.document('watches');
  assert.deepEqual([confirmed, wakeAt], [true, undefined]);
  assert.ok(Number(expireAt) > world.clock.now());
}

const decided = (status: string): Scenario['endings'] => ({
  'its event is published': async (world) => {
    world.status = 'something else';
    await world.pass(10 * MINUTE);
    checkDone(world, status);
  },
});

export const WATCHES: Readonly<Record<string, Scenario>> = {
  armed: {
    prepare: async (world) => {
      await create(world);
      await world.runTasks();
      assert.equal(world.document('watches')['attempt'], 2);
    },
    endings: {
      // Its task was lost with the rest of that world, so the first wake-up is that of the sweeper.
      'it becomes ready': async (world) => {
        world.status = 'done';
        await world.pass(10 * MINUTE);
        checkDone(world, 'ready');
      },
      'it never does': async (world) => {
        await world.pass(90 * MINUTE);
        checkDone(world, 'timed_out');
      },
      'the same watch again is the same one': async (world) => {
        assert.equal((await world.poll(JSON.stringify(WATCH))).status, 200);
        assert.equal((await world.poll(JSON.stringify({ ...WATCH, interval: '31s' }))).status, 409);
      },
    },
  },

  'ready, not published': {
    prepare: async (world) => {
      await create(world);
      world.status = 'done';
      await world.crash(({ port }) => port === 'bus', () => world.runTasks()); // prettier-ignore
      assert.equal(world.document('watches')['outcome'], 'ready');
    },
    endings: decided('ready'),
  },

  'timed out, not published': {
    prepare: async (world) => {
      await create(world);
      await world.crash(({ port }) => port === 'bus', () => world.pass(90 * MINUTE)); // prettier-ignore
      assert.equal(world.document('watches')['outcome'], 'timed_out');
    },
    endings: decided('timed_out'),
  },

  done: {
    prepare: async (world) => {
      await create(world);
      world.status = 'done';
      await world.runTasks();
      assert.equal(world.document('watches')['confirmed'], true);
    },
    endings: {
      'nothing more happens': async (world) => {
        const published = world.bus.published('events').length;
        await world.pass(10 * MINUTE);
        assert.equal(world.bus.published('events').length, published);
        assert.equal((await world.poll(JSON.stringify(WATCH))).status, 200);
        checkDone(world, 'ready');
      },
    },
  },
};
