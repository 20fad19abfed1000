import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeBus } from '../../test/fakes/bus.ts';
import { fakeClock, requestEnd } from '../../test/fakes/clock.ts';
import { OPEN, type Gate, type PortCall } from '../../test/fakes/gate.ts';
import { event, SETTINGS } from '../../test/fakes/keys.ts';
import { FakeStore } from '../../test/fakes/store.ts';
import { FakeTable } from '../../test/fakes/tables.ts';
import { AmbiguousError, TransientError } from '../core/errors.ts';
import type { Event, SummaryRow } from '../core/event.ts';
import type { LogEntry } from '../log.ts';
import { completionKey } from './completion.ts';
import { readState, sequencePath } from './documents.ts';
import { createFinisher, type Finished } from './finish.ts';
import { completionMessage, createRecorder } from './record.ts';
import { keysKind } from './sweep-keys.ts';
import { sweep, type SweepCounts } from './sweep.ts';

const MINUTE = 60e6;

/** The state of the keys with everything around it, in memory. */
class World {
  readonly clock = fakeClock();
  readonly store = new FakeStore();
  readonly bus = new FakeBus();
  readonly logged: LogEntry[] = [];
  refuse: (row: SummaryRow) => string | null = () => null;
  readonly summaries = new FakeTable<SummaryRow>(
    () => this.clock.now(),
    (row) => this.refuse(row),
  );
  readonly log = (entry: LogEntry): void => void this.logged.push(entry);

  ports(gate: Gate) {
    const { clock, store, bus, summaries } = this;
    return { clock, store: store.port(gate), bus: bus.port(gate), summaries: summaries.port('summaries', gate) };
  }

  async record(events: readonly Event[], gate: Gate = OPEN): Promise<void> {
    const ports = this.ports(gate);
    const { due } = await createRecorder(ports, SETTINGS).record(events, requestEnd(this.clock));
    if (due.length > 0) await ports.bus.publish('completions', due.map(completionMessage));
  }

  finish(gate: Gate = OPEN, key = 'k'): Promise<Finished> {
    return createFinisher(this.ports(gate), SETTINGS).finish(key, requestEnd(this.clock), this.log);
  }

  sweep(gate: Gate = OPEN, page = 100): Promise<SweepCounts> {
    const ports = this.ports(gate);
    const settings = { shards: SETTINGS.shards, sweepPage: page };
    return sweep(ports, settings, keysKind(ports.bus), requestEnd(this.clock), this.log);
  }

  /** Delivers the hints that were published and not delivered yet. */
  async deliver(gate: Gate = OPEN): Promise<void> {
    for (const { data } of this.bus.topics.get('completions')?.splice(0) ?? []) {
      await this.finish(gate, completionKey(Buffer.from(data as string))!);
    }
  }

  /** Minutes of nothing but sweeps and hints. */
  async minutes(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.clock.advance(MINUTE);
      await this.sweep();
      await this.deliver();
    }
  }

  state(key = 'k') {
    return readState(this.store.read(sequencePath(key)))!;
  }

  rows(): readonly SummaryRow[] {
    return this.summaries.commits.map(({ row }) => row);
  }
}

const started = event({ eventId: 'a' });
const completed = event({ eventId: 'z', eventStatus: 'completed' });

describe('finishing', () => {
  it('writes one summary, announces it and is done', async () => {
    const world = new World();
    await world.record([started, completed]);
    assert.deepEqual(await world.finish(), { kind: 'written', revisions: 1 });
    assert.deepEqual(await world.finish(), { kind: 'idle' });
    assert.deepEqual(await world.finish(OPEN, 'unknown'), { kind: 'idle' });
    const [message] = world.bus.published('summaries');
    const body = JSON.parse(message!.data as string) as Record<string, unknown>;
    assert.equal(body['start_time'], '2024-01-05T10:00:00.000000Z');
    assert.deepEqual(Object.keys(body), Object.keys(world.rows()[0]!));
    assert.deepEqual(Object.keys(message!.attributes), ['id', 'unique_key', 'generation', 'revision', 'state']);
    assert.equal(world.rows().length, 1);
  });

  it('writes one summary when three hints come at once', async () => {
    const world = new World();
    await world.record([started, completed]);
    const kinds = (await Promise.all([world.finish(), world.finish(), world.finish()])).map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === 'written').length, 1);
    assert.equal(world.rows().length, 1);
  });

  it('follows an expired summary at once by the finished one whose completion came meanwhile', async () => {
    const world = new World();
    await world.record([started]);
    world.clock.advance(SETTINGS.silence);
    const gate: Gate = {
      ...OPEN,
      before: async ({ method }) => {
        if (method === 'append' && world.rows().length === 0) await world.record([completed]);
      },
    };
    assert.deepEqual(await world.finish(gate), { kind: 'written', revisions: 2 });
    assert.deepEqual(
      world.rows().map((row) => [row.state, row.total_steps, row.late_events]),
      [
        ['expired', 1, 0],
        ['finished', 2, 1],
      ],
    );
  });

  it('reports what the table refuses, ever more rarely, and never silently', async () => {
    const world = new World();
    world.refuse = () => 'no such column';
    await world.record([completed]);
    assert.deepEqual(await world.finish(), { kind: 'refused', reason: 'no such column' });
    await world.minutes(24 * 60);
    const refusals = world.logged.filter(({ event: name }) => name === 'finish.refused').length;
    assert.ok(refusals >= 24 && refusals < 40, `${refusals} attempts in a day`);
    assert.ok(world.logged.some(({ event: name }) => name === 'sweep.stuck'));
    world.refuse = () => null;
    await world.minutes(62);
    assert.equal(world.rows().length, 1);
    assert.equal(world.state().attempts, 0);
  });

  it('recognises its own claim also when somebody interferes after the answer was lost', async () => {
    const world = new World();
    await world.record([completed]);
    let commits = 0;
    const gate: Gate = {
      before: async ({ method }) => {
        if (method === 'commit' && ++commits === 2) throw new TransientError('contention', 'somebody interfered');
      },
      after: async ({ method }) => {
        if (method === 'commit' && commits === 1) throw new AmbiguousError('lost');
      },
    };
    assert.deepEqual(await world.finish(gate), { kind: 'written', revisions: 1 });
    assert.equal(world.rows().length, 1);
  });

  it('recognises its own claim when the answer of the claim was lost', async () => {
    const world = new World();
    await world.record([completed]);
    let lost = 1;
    const gate: Gate = {
      ...OPEN,
      after: async ({ method }) => {
        if (method === 'commit' && lost-- > 0) throw new AmbiguousError('lost');
      },
    };
    assert.deepEqual(await world.finish(gate), { kind: 'written', revisions: 1 });
  });
});

/** Rejects at the n-th point (two for each call), then lives on or is dead. Tells whether it got there. */
function faultAt(n: number, fault: 'fail' | 'crash'): Gate & { reached: boolean } {
  let count = 0;
  const point = async (_call: PortCall, error: Error): Promise<void> => {
    const here = count++ === n;
    gate.reached ||= here;
    if (fault === 'crash' ? gate.reached : here) throw fault === 'crash' ? new Error('crashed') : error;
  };
  const gate = {
    reached: false,
    before: (call: PortCall) => point(call, new TransientError('unavailable', 'refused')),
    after: (call: PortCall) => point(call, new AmbiguousError('the answer was lost')),
  };
  return gate;
}

describe('a fault at any call', () => {
  /** A key from its first event to a correction, every call through the gate. */
  const stories: Readonly<Record<string, (world: World, gate: Gate) => Promise<void>>> = {
    'of a key that completes and is corrected': async (world, gate) => {
      await world.record([started], gate);
      await world.record([completed], gate);
      await world.deliver(gate);
      await world.record([event({ eventId: 'b' })], gate);
      world.clock.advance(2 * MINUTE);
      await world.sweep(gate);
      await world.deliver(gate);
    },
    'of a key that expires and completes': async (world, gate) => {
      await world.record([started], gate);
      world.clock.advance(SETTINGS.silence);
      await world.sweep(gate);
      await world.deliver(gate);
      await world.record([event({ eventId: 'b' }), completed], gate);
      await world.deliver(gate);
    },
  };

  for (const [name, story] of Object.entries(stories)) {
    for (const fault of ['fail', 'crash'] as const) {
      it(`${name} is repaired by redelivery and wake-ups alone (${fault})`, async () => {
        let points = 0;
        for (; ; points++) {
          const world = new World();
          const gate = faultAt(points, fault);
          await story(world, gate).catch((error: Error) => assert.equal(error.message, 'crashed'));
          if (!gate.reached) break;
          // What was not acknowledged comes again; hints that were lost do not.
          world.bus.topics.delete('completions');
          await world.record([started, event({ eventId: 'b' }), completed]);
          world.bus.topics.delete('completions');
          await world.minutes(30);
          check(world, `fault at point ${points}`);
        }
        assert.ok(points > 20, `only ${points} points`);
      });
    }
  }

  function check(world: World, where: string): void {
    const state = world.state();
    assert.equal(state.fold.count, 3, where);
    assert.equal(state.confirmed, 3, where);
    assert.equal(state.claim, null, where);
    const rows = new Map<number, SummaryRow>();
    for (const row of world.rows()) {
      assert.deepEqual(row, rows.get(row.revision) ?? row, `${where}: one row per revision`);
      rows.set(row.revision, row);
    }
    const last = rows.get(state.revision)!;
    assert.deepEqual([last.state, last.total_steps], ['finished', 3], where);
    const announced = new Map<string, unknown>();
    for (const { attributes, data } of world.bus.published('summaries')) {
      assert.equal(data, announced.get(attributes['id']!) ?? data, `${where}: one content per id`);
      announced.set(attributes['id']!, data);
    }
    assert.equal(announced.size, rows.size, where);
  }
});

describe('sweeping', () => {
  it('wakes every key once, page by page, whatever the shard', async () => {
    const world = new World();
    for (let i = 0; i < 100; i++) await world.record([event({ uniqueKey: `k${i}`, eventId: '1' })]);
    assert.equal((await world.sweep()).woken, 0);
    world.clock.advance(SETTINGS.silence);
    const counts = await world.sweep(OPEN, 3);
    assert.deepEqual(counts, { woken: 100, moved: 0, stuck: 0, failed: 0, unfinished: 0, open: 100 });
    assert.equal(world.bus.published('completions').length, 100);
    assert.equal((await world.sweep()).woken, 0, 'pushed back');
  });

  it('may run twice at once', async () => {
    const world = new World();
    for (let i = 0; i < 20; i++) await world.record([event({ uniqueKey: `k${i}`, eventId: '1' })]);
    world.clock.advance(SETTINGS.silence);
    const both = await Promise.all([world.sweep(), world.sweep()]);
    assert.equal(both[0].woken + both[1].woken, 20);
    for (let i = 0; i < 20; i++) assert.equal(world.state(`k${i}`).attempts, 1);
  });

  it('gets past a key that always fails', async () => {
    const world = new World();
    for (let i = 0; i < 20; i++) await world.record([event({ uniqueKey: `k${i}`, eventId: '1' })]);
    world.clock.advance(SETTINGS.silence);
    const gate: Gate = {
      ...OPEN,
      before: async ({ method, resource }) => {
        if (method === 'commit' && resource === sequencePath('k7')) throw new TransientError('unavailable', 'no');
      },
    };
    const counts = await world.sweep(gate, 1);
    assert.deepEqual([counts.woken, counts.failed], [19, 1]);
  });

  it('stops when its time is over, and tells', async () => {
    const world = new World();
    for (let i = 0; i < 20; i++) await world.record([event({ uniqueKey: `k${i}`, eventId: '1' })]);
    world.clock.advance(SETTINGS.silence);
    const gate: Gate = { ...OPEN, before: async ({ method }) => void (method === 'due' && world.clock.advance(5e6)) };
    const counts = await world.sweep(gate, 1);
    assert.ok(counts.unfinished > 0 && counts.woken > 0 && counts.woken < 20);
  });
});
