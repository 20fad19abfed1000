import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { START } from '../fakes/clock.ts';
import { permutations } from './scenarios.ts';
import { all, is, NO_SWEEP, once, play, publish, submit, summariesOf } from './story.ts';
import type { World } from './world.ts';

const MINUTE = 60e6;
const isKeyCommit = (entry: string) => (call: { entry: string; method: string; port: string }) =>
  call.entry === entry && call.port === 'store' && call.method === 'commit';

describe('a key under faults', () => {
  it('completion recorded, crash before its hint is published, and the redelivery is a repeat', async () => {
    const world = await play({
      messages: [publish('e1'), publish('z2', { at: 1000 })],
      fault: once(is('ingest bus.publish'), { kind: 'crash before' }),
      director: NO_SWEEP,
    });
    assert.deepEqual(summariesOf(world), ['1 finished complete 2']);
  });

  it('a hint whose publication is in doubt is published again before the event is acknowledged', async () => {
    const world = await play({
      messages: [publish('z1')],
      fault: once(is('ingest bus.publish'), { kind: 'refused' }),
      director: NO_SWEEP,
    });
    assert.deepEqual(summariesOf(world), ['1 finished complete 1']);
    assert.equal(world.events.commits.length, 2, 'the event was delivered again');
  });

  it('an event between claim and confirm gets a revision of its own', async () => {
    const world = await play({
      messages: [publish('e1'), publish('z2'), publish('e3', { at: 5000 })],
      fault: once(is('finish summaries.append'), { kind: 'stalled', ms: 20_000 }),
    });
    assert.deepEqual(summariesOf(world), ['1 finished complete 2', '2 finished complete 3']);
  });

  it('progress that fills the last gap after the coda finishes the key before its grace is over', async () => {
    const world = await play({
      messages: [
        publish('e1', { sequence: 1 }),
        publish('z3', { sequence: 3 }),
        publish('e2', { sequence: 2, at: 8000 }),
      ],
    });
    assert.deepEqual(summariesOf(world), ['1 finished complete 3']);
    assert.ok(world.summaries.commits[0]!.row.written_at < START + world.config.grace);
  });

  it('a key with gaps waits for its grace, then says that it is incomplete', async () => {
    const world = await play({ messages: [publish('z3', { sequence: 3 })] });
    assert.deepEqual(summariesOf(world), ['1 finished gaps 1']);
  });

  it('a claim whose owner died is taken over unchanged', async () => {
    const world = await play({
      messages: [publish('e1'), publish('z2'), publish('e3', { at: 30_000 })],
      fault: once(is('finish bus.publish'), { kind: 'crash before' }),
    });
    assert.deepEqual(summariesOf(world), ['1 finished complete 2', '2 finished complete 3']);
    assert.equal(world.summaries.commits.length, 3, 'the first revision was written twice');
  });

  it('a summary whose publication was refused is published before it is confirmed', async () => {
    const fault = once(is('finish bus.publish'), { kind: 'refused' });
    const world = await play({ messages: [publish('z1')], fault });
    assert.equal(world.bus.published('summaries').length, 1);
  });

  it('an owner that stalls after its append and confirms after a newer claim confirms nothing', async () => {
    const world = await play({
      messages: [publish('e1'), publish('z2'), publish('e3', { at: 100_000 })],
      instances: 2,
      // The first owner wakes up while the second revision is claimed and not yet on the topic; then that owner dies.
      fault: all(
        once(is('finish store.get'), { kind: 'stalled', ms: 155_000 }, 2),
        once(is('finish summaries.append'), { kind: 'stalled', ms: 40_000 }, 3),
        once(is('finish bus.publish'), { kind: 'crash before' }, 3),
      ),
    });
    assert.deepEqual(summariesOf(world), ['1 finished complete 2', '2 finished complete 3']);
  });

  it('a key that came back after its state was deleted is not confirmed by an owner from before', async () => {
    const hours = 3_600_000;
    const world = await play({
      messages: [publish('z1'), publish('z2', { at: 3 * hours })],
      settings: { STATE_RETENTION: '60m' },
      ttl: true,
      // The second owner confirms the first life; the first one wakes up in the second life, between claim and publish.
      fault: all(
        once(is('finish store.get'), { kind: 'stalled', ms: 3 * hours + 5_000 }, 2),
        once(is('finish summaries.append'), { kind: 'stalled', ms: 10_000 }, 3),
        once(is('finish bus.publish'), { kind: 'crash before' }, 3),
      ),
    });
    const generations = new Set(world.summaries.commits.map(({ row }) => row.generation));
    assert.equal(generations.size, 2);
  });

  it('a late lone event of a finished key waits to settle and becomes one correction', async () => {
    const world = await play({
      messages: [
        publish('e1'),
        publish('z2'),
        publish('e3', { at: 120_000 }),
        publish('e4', { at: 124_000 }),
        publish('e5', { at: 128_000 }),
      ],
    });
    assert.deepEqual(summariesOf(world), ['1 finished complete 2', '2 finished complete 5']);
    assert.equal(world.summaries.commits[1]!.row.late_events, 3);
  });

  it('two codas with different totals: the larger one counts, in both orders', async () => {
    for (const [a, b] of [[3, 2], [2, 3]] as const) {
      const world = await play({
        messages: [
          publish('e1', { sequence: 1 }),
          publish('z2', { sequence: a }),
          publish('z3', { sequence: b, at: 100 }),
        ],
      });
      const rows = summariesOf(world);
      assert.equal(rows.at(-1)!.slice(2), 'finished complete 3', String(rows));
    }
  }); // prettier-ignore

  it('ids that repeat past the inline bound have no second effect', async () => {
    const ids = ['e1', 'e2', 'e3', 'e4', 'e5'];
    const again = [0, 1000, 2000].flatMap((at) => ids.map((id) => publish(id, { at })));
    const world = await play({ messages: [...again, publish('z6', { at: 3000 })], settings: { IDS_INLINE: '2' } });
    assert.deepEqual(summariesOf(world), ['1 finished complete 6']);
  });

  it('a group in which one key is contended: the other keys are recorded', async () => {
    const messages = ['a', 'b', 'c'].map((key) => publish('z1', { key }));
    const failing = (call: { resource: string }) => call.resource.includes('-b');
    const world = await play({
      messages,
      settings: { GROUP_KEYS: '20', GROUP_EVENTS: '200' },
      fault: (call) =>
        isKeyCommit('ingest')(call) && failing(call) && call.index < 40 ? { kind: 'refused' } : undefined,
      director: { ...NO_SWEEP, ticks: () => 0 },
    });
    const arrivals = world.bus.published('summaries').map(({ attributes }) => attributes['unique_key']);
    assert.deepEqual(arrivals.slice(0, 2).sort(), ['a', 'c']);
    const written = new Map(world.summaries.commits.map(({ row }) => [row.unique_key, row.written_at]));
    assert.ok(written.get('c')! < START + 5e6, 'the neighbour waited for a redelivery');
  });

  it('an append whose answer was lost is repeated, and the view still has one row', async () => {
    const world = await play({
      messages: [publish('z1')],
      fault: once(is('ingest events.append'), { kind: 'answer lost' }),
    });
    assert.equal(world.events.commits.length, 2);
    assert.deepEqual(summariesOf(world), ['1 finished complete 1']);
  });

  it('a state that cannot be changed keeps the event from being acknowledged', async () => {
    const fault = once(isKeyCommit('ingest'), { kind: 'refused' });
    const world = await play({ messages: [publish('z1')], fault, director: NO_SWEEP });
    assert.deepEqual(summariesOf(world), ['1 finished complete 1']);
  });

  it('expired confirmed, then an event that is no coda: corrected after silence and settling', async () => {
    const world = await play({ messages: [publish('e1'), publish('e2', { at: 600_000 })] });
    assert.deepEqual(summariesOf(world), ['1 expired gaps 1', '2 expired gaps 2']);
  });

  it('an age deadline passed, then a coda with a gap: expired, then finished with gaps after the grace', async () => {
    const steps = Array.from({ length: 10 }, (_, i) => publish(`e${i}`, { sequence: i + 1, at: i * 140_000 }));
    const world = await play({ messages: [...steps, publish('z1', { sequence: 12, at: 1_500_000 })] });
    assert.deepEqual(summariesOf(world), ['1 expired gaps 9', '2 finished gaps 11']);
  });

  it('sweep and finish both writing wake_at: the one that came later acts on what it found', async () => {
    const world = await play({
      messages: [publish('e1'), publish('z2', { at: 1000 })],
      instances: 2,
      // The hint is lost, sweep finds the key and stalls between its look and its change.
      fault: all(
        once(is('finish store.get'), { kind: 'stalled', ms: 70_000 }),
        once(is('sweep store.get'), { kind: 'stalled', ms: 30_000 }),
      ),
    });
    assert.deepEqual(summariesOf(world), ['1 finished complete 2']);
  });

  it('a key is expired by silence, and by age however often it speaks', async () => {
    const silent = await play({ messages: [publish('e1')] });
    const after = (world: World) => (world.summaries.commits[0]!.row.written_at - START) / MINUTE;
    assert.ok(after(silent) >= 5 && after(silent) < 7, `${after(silent)} min`);
    const steps = Array.from({ length: 12 }, (_, i) => publish(`e${i}`, { at: i * 140_000 }));
    const talkative = await play({ messages: steps });
    assert.ok(after(talkative) >= 20 && after(talkative) < 22, `${after(talkative)} min`);
  });

  it('steps and sums folded in every order to one value', async () => {
    const events = [
      publish('e1', { amount: 1.5, sequence: 1 }),
      publish('e2', { amount: -20, sequence: 2 }),
      publish('e3', { amount: 7, sequence: 3, time: 200 }),
      publish('z4', { sequence: 4 }),
    ];
    const rows = new Set<string>();
    for (const { messages } of permutations({ messages: events })) {
      const world = await play({ messages: messages.map((one, i) => ({ ...one, at: i * 100 })) });
      const { row } = world.summaries.commits.at(-1)!;
      rows.add(JSON.stringify({ ...row, generation: 0, revision: 0, late_events: 0, written_at: 0 }));
    }
    assert.equal(rows.size, 1, [...rows].join('\n'));
  });

  it('of two hints one was published: the event of the other key is delivered again', async () => {
    for (const part of ['first', 'last'] as const) {
      const world = await play({
        // The first one goes alone, the others make a group.
        messages: [submit('call', ...['a', 'b', 'c'].map((key) => publish('z1', { key })))],
        settings: { GROUP_KEYS: '20' },
        fault: once((call) => is('submit bus.publish')(call) && call.parts === 2, { kind: 'partly', part }),
        director: NO_SWEEP,
      });
      assert.equal(world.faultsMet, 1);
      assert.equal(world.bus.published('summaries').length, 3);
    }
  });

  it('delivery attempts exhausted: the last attempt dead-letters the event with the cause', async () => {
    const world = await play({
      messages: [publish('z1')],
      settings: { MAX_DELIVERY_ATTEMPTS: '5' },
      fault: (call) => (is('ingest events.append')(call) ? { kind: 'refused' } : undefined),
    });
    const letters = world.bus.published('deadLetters').map(({ attributes }) => attributes);
    assert.deepEqual(
      letters.map(({ reason, cause, delivery_attempt: attempt }) => [reason, cause, attempt]),
      [['delivery_attempts_exhausted', 'unavailable', '5']],
    );
    assert.equal(world.events.commits.length, 0);
  });

  it('an id that comes again with another time is a dead letter and has no effect', async () => {
    const world = await play({
      messages: [publish('e1'), publish('e1', { time: 500, at: 1000 }), publish('z2', { at: 2000 })],
    });
    assert.deepEqual(summariesOf(world), ['1 finished complete 2']);
    const [letter] = world.bus.published('deadLetters');
    assert.equal(letter!.attributes['reason'], 'event_id_conflict');
  });

  it('a row that the table refuses is a dead letter and counts nowhere, its neighbours do', async () => {
    const messages = [publish('e1', { refused: true }), publish('e2'), publish('z3')];
    const world = await play({ messages });
    assert.deepEqual(summariesOf(world), ['1 finished complete 2']);
  });

  it('a message whose dead letter was not published is not acknowledged', async () => {
    const world = await play({
      messages: [{ at: 0, raw: '{', reason: 'invalid_json' }],
      fault: once(is('ingest bus.publish'), { kind: 'refused' }),
    });
    assert.equal(world.bus.published('deadLetters').length, 1);
  });

  it('the oldest thousand keys failing for ever while new ones come due: the new ones are swept, the old ones ever more rarely', async () => {
    const bad = Array.from({ length: 1000 }, (_, i) => publish('z1', { key: `bad${i}` }));
    const good = publish('e1', { key: 'good', at: 10 * 60_000 });
    const world = await play({
      messages: [...bad, good],
      settings: { SWEEP_PAGE: '100', GROUP_KEYS: '20', GROUP_EVENTS: '200' },
      prepare: (one) => {
        const append = one.summaries.append.bind(one.summaries);
        one.summaries.append = (rows) =>
          rows.some(({ unique_key: key }) => key.startsWith('bad'))
            ? rows.map(() => ({ ok: false, reason: 'the row is not allowed' }))
            : append(rows);
      },
      until: (one) => one.summaries.commits.length > 0,
      check: false,
    });
    const { written_at: at } = world.summaries.commits[0]!.row;
    assert.ok(at < START + 17 * MINUTE, `the new key was swept after ${(at - START) / MINUTE} minutes`);
    const hints = world.bus.published('completions').length;
    assert.ok(hints < 1000 * 7, `${hints} hints: the failing keys are not tried ever more rarely`);
  });
});
