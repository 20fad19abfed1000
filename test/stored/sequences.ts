import assert from 'node:assert/strict';
import type { PortCall } from '../fakes/gate.ts';
import type { Scenario } from './scenario.ts';
import { DAY, HOUR, KEY, MINUTE, type World } from './world.ts';

const appending = ({ port }: PortCall) => port === 'summaries';
const CODA = { event_status: 'completed' };

/** Everything is covered and nobody has to look at the key again. */
function checkRest(world: World, version: number): void {
  const document = world.document('sequences');
  assert.deepEqual([document['version'], document['confirmed']], [version, version]);
  assert.equal(document['wake_at'], undefined);
  assert.ok(Number(document['expire_at']) > world.clock.now());
  const announced = world.bus.published('summaries').map(({ attributes }) => Number(attributes['revision']));
  assert.deepEqual([...new Set(announced)], world.rows().map(({ revision }) => revision)); // prettier-ignore
  for (const { row } of world.summaries.commits) assert.equal(row.unique_key, KEY);
}

/** Summaries as `revision state complete total late`. */
const told = (world: World) => world.rows().map((row) => `${row.revision} ${row.state} ${row.complete} ${row.total_steps} ${row.late_events}`); // prettier-ignore

async function complete(world: World): Promise<void> {
  assert.equal(await world.ingest('end', CODA), 204);
  await world.hints();
}

const finishedKey = async (world: World): Promise<void> => {
  await world.ingest('a');
  await complete(world);
};

export const SEQUENCES: Readonly<Record<string, Scenario>> = {
  open: {
    prepare: async (world) => {
      await world.ingest('a');
      world.clock.advance(MINUTE);
      await world.ingest('b');
    },
    endings: {
      'its completion ends it; repeats are known': async (world) => {
        await world.ingest('a', { timestamp: '2024-01-05T10:00:00Z' });
        await complete(world);
        assert.deepEqual(told(world), ['1 finished true 3 0']);
        assert.deepEqual(world.rows()[0]!.steps.map(({ event_id: id }) => id), ['a', 'b', 'end']); // prettier-ignore
        checkRest(world, 3);
      },
      'silence ends it': async (world) => {
        await world.pass(2 * DAY, HOUR);
        assert.deepEqual(told(world), ['1 expired false 2 0']);
        checkRest(world, 2);
      },
      'a conflict with what it holds is a dead letter': async (world) => {
        await world.ingest('a', { event_status: 'other' });
        assert.equal(world.bus.published('deadLetters')[0]!.attributes['reason'], 'event_id_conflict');
      },
    },
  },

  gap: {
    prepare: async (world) => {
      await world.ingest('a', { sequence: 1 });
      await world.ingest('end', { ...CODA, sequence: 3 });
    },
    endings: {
      'the gap is filled': async (world) => {
        await world.ingest('b', { sequence: 2 });
        await world.hints();
        assert.deepEqual(told(world), ['1 finished true 3 0']);
        checkRest(world, 3);
      },
      'the gap stays': async (world) => {
        await world.pass(10 * MINUTE);
        assert.deepEqual(told(world), ['1 finished false 2 0']);
        checkRest(world, 2);
      },
    },
  },

  'scattered numbers': {
    prepare: async (world) => {
      for (let n = 1; n < 60; n += 2) await world.ingest(`n${n}`, { sequence: n });
    },
    endings: {
      'the numbers between them complete it': async (world) => {
        for (let n = 2; n < 60; n += 2) await world.ingest(`n${n}`, { sequence: n });
        await world.ingest('end', { ...CODA, sequence: 60 });
        await world.hints();
        assert.deepEqual(told(world), ['1 finished true 60 0']);
      },
    },
  },

  'ids in documents of their own': {
    settings: { IDS_INLINE: '2' },
    prepare: async (world) => {
      for (const id of ['a', 'b', 'c', 'd']) await world.ingest(id);
    },
    endings: {
      'every id is known, with another bound too': async (world) => {
        for (const id of ['a', 'b', 'c', 'd', 'e']) await world.ingest(id);
        await world.ingest('d', { event_status: 'other' });
        assert.equal(world.bus.published('deadLetters').length, 1);
        await complete(world);
        assert.deepEqual(told(world), ['1 finished true 6 0']);
        checkRest(world, 6);
      },
    },
  },

  'steps beyond the bound': {
    settings: { STEPS_KEPT: '2' },
    prepare: async (world) => {
      for (const [i, id] of ['a', 'b', 'c', 'd'].entries()) await world.ingest(id, { timestamp: `2024-01-05T10:0${i}:00Z` }); // prettier-ignore
    },
    endings: {
      'nothing is kept behind the cut, whatever the bound is now': async (world) => {
        await world.ingest('early', { timestamp: '2024-01-05T09:00:00Z' });
        await world.ingest('end', { ...CODA, timestamp: '2024-01-05T11:00:00Z' });
        await world.hints();
        const [row] = world.rows();
        assert.deepEqual(row!.steps.map(({ event_id: id }) => id), ['early', 'a', 'b']); // prettier-ignore
        assert.equal(row!.total_steps, 6);
      },
    },
  },

  fields: {
    prepare: async (world) => {
      await world.ingest('a', { payload: { amount: 10.5, deep: [{ x: 'text' }] } });
      await world.ingest('b', { payload: { amount: -3, deep: [{ x: 1e300 }] } });
    },
    endings: {
      'its sums go on': async (world) => {
        await world.ingest('end', { ...CODA, payload: { amount: 0.1 } });
        await world.hints();
        const fields = JSON.parse(world.rows()[0]!.fields!) as Record<string, object>;
        assert.deepEqual(fields['/amount'], { count: 3, sum: 7.6, min: -3, max: 10.5, first: 10.5, last: 0.1, skipped: 0 }); // prettier-ignore
        assert.deepEqual(fields['/deep/0/x'], { count: 0, first: 'text', last: 'text', skipped: 1 });
      },
    },
  },

  'claimed, not confirmed': {
    prepare: async (world) => {
      await world.ingest('a', { payload: { amount: 1 } });
      await world.ingest('end', CODA);
      await world.crash(appending, () => world.hints());
      await world.ingest('late');
    },
    endings: {
      'the claim is taken over with the row that it holds, the event after it corrects': async (world) => {
        await world.pass(10 * MINUTE);
        assert.deepEqual(told(world), ['1 finished true 2 0', '2 finished true 3 1']);
        const [first] = world.rows();
        assert.deepEqual(first!.steps.map(({ event_id: id }) => id), ['a', 'end']); // prettier-ignore
        assert.equal(first!.written_at, world.document('sequences')['generation']);
        checkRest(world, 3);
      },
    },
  },

  'written, not confirmed': {
    prepare: async (world) => {
      await world.ingest('a');
      await world.ingest('end', CODA);
      await world.crash(({ port }) => port === 'bus', () => world.hints()); // prettier-ignore
    },
    endings: {
      'the same row is written again, announced and confirmed': async (world) => {
        await world.pass(5 * MINUTE);
        const rows = world.summaries.commits.map(({ row }) => row);
        assert.equal(rows.length, 2);
        assert.deepEqual(rows[1], rows[0]);
        checkRest(world, 2);
      },
    },
  },

  finished: {
    prepare: finishedKey,
    endings: {
      'nothing more happens, and a repeat is known': async (world) => {
        await world.ingest('a');
        await world.push('finish', { data: JSON.stringify({ unique_key: KEY }), attributes: {} });
        await world.pass(10 * MINUTE);
        assert.deepEqual(told(world), ['1 finished true 2 0']);
        checkRest(world, 2);
      },
      'a late event corrects it': async (world) => {
        await world.ingest('late');
        assert.equal(world.document('sequences')['expire_at'], undefined);
        await world.pass(10 * MINUTE);
        assert.deepEqual(told(world), ['1 finished true 2 0', '2 finished true 3 1']);
        checkRest(world, 3);
      },
    },
  },

  'late after it was finished': {
    prepare: async (world) => {
      await finishedKey(world);
      world.clock.advance(HOUR);
      await world.ingest('late');
    },
    endings: {
      'it settles into a correction': async (world) => {
        await world.pass(10 * MINUTE);
        assert.deepEqual(told(world), ['1 finished true 2 0', '2 finished true 3 1']);
        checkRest(world, 3);
      },
    },
  },

  expired: {
    prepare: async (world) => {
      await world.ingest('a');
      await world.pass(2 * DAY, HOUR);
    },
    endings: {
      'its completion comes after all': async (world) => {
        await complete(world);
        await world.pass(10 * MINUTE);
        assert.deepEqual(told(world), ['1 expired false 1 0', '2 finished true 2 1']);
        checkRest(world, 2);
      },
    },
  },

  stuck: {
    prepare: async (world) => {
      await finishedKey(world);
      await world.ingest('late');
      world.clock.advance(10 * MINUTE);
      for (let i = 0; i < 22; i++) {
        await world.sweep();
        // Nobody delivers the hints.
        world.bus.topics.get('completions')?.splice(0);
        world.clock.advance(HOUR);
      }
      assert.equal(world.document('sequences')['attempts'], 22);
    },
    endings: {
      'the next hint that is delivered ends it': async (world) => {
        await world.pass(2 * HOUR);
        assert.deepEqual(told(world), ['1 finished true 2 0', '2 finished true 3 1']);
        assert.equal(world.document('sequences')['attempts'], 0);
        checkRest(world, 3);
      },
    },
  },
};
