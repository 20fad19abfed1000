import assert from 'node:assert/strict';
import { AmbiguousError, TransientError } from '../core/errors.ts';
import type { EventRow } from '../core/event.ts';
import { decodeCursor } from '../core/join/cursor-codec.ts';
import { parseJoin, type JoinDefaults } from '../core/join/settings.ts';
import { loadConfig } from '../config.ts';
import type { LogEntry } from '../log.ts';
import type { Message } from '../ports.ts';
import { FakeBus } from '../../test/fakes/bus.ts';
import { START } from '../../test/fakes/clock.ts';
import { OPEN, type Gate, type PortCall } from '../../test/fakes/gate.ts';
import { FakeStore } from '../../test/fakes/store.ts';
import { FakeTable } from '../../test/fakes/tables.ts';
import { FakeWarehouse } from '../../test/fakes/warehouse.ts';
import { runBackfill, type BackfillReport } from './backfill.ts';
import type { JoinContext } from './context.ts';
import { runJoin, type JoinReport } from './run.ts';

/** A join over in-memory ports, for tests: calls pass through a gate, time moves when the test says so. */

export const MINUTE = 60e6;
export const config = loadConfig({ PROJECT_ID: 'local-project', JOIN_PAGE: '2' });
const defaults: JoinDefaults = {
  topic: 'results',
  lookback: config.joinLookback,
  step: config.joinStep,
  lag: config.joinLag,
  wait: config.joinWait,
  maxBytesBilled: config.maxBytesBilled,
};
const tables = { source: 'p.d.events', ledger: 'p.d.joined' };

export function world(settings: Record<string, unknown> = {}) {
  let now = START;
  const events = new FakeTable<EventRow>(() => now);
  const warehouse = new FakeWarehouse(events, () => now);
  const store = new FakeStore();
  const bus = new FakeBus();
  warehouse.reference.set('known', 'Known');
  const join = parseJoin('enrich', 'SELECT * FROM new_events', settings, defaults);
  const logs: LogEntry[] = [];
  let ids = 0;
  const context = (gate: Gate): JoinContext => ({
    join,
    tables,
    config,
    log: (entry) => void logs.push(entry),
    ports: {
      clock: { now: () => now, sleep: async () => undefined },
      ids: { random: () => `id-${++ids}` },
      store: store.port(gate),
      bus: bus.port(gate),
      warehouse: warehouse.port(gate),
    },
  });

  return {
    context,
    events,
    warehouse,
    store,
    bus,
    logs,
    advance: (micros: number) => (now += micros),
    now: () => now,
    cursor: () => decodeCursor(store.read('cursors/enrich')!),
    insert(id: string, joinKey: string | null = 'known', time = START): void {
      events.append([
        { event_id: id, unique_key: 'k', event_status: 's', event_time: time, join_key: joinKey, sequence: null, payload: null, extra: null, attributes: null, message_id: id, publish_time: null, ingest_time: now }, // prettier-ignore
      ]);
    },
    tick: (gate: Gate = OPEN): Promise<JoinReport> => runJoin(context(gate)),
    backfill: (from: number, to: number, days = 2, gate: Gate = OPEN): Promise<BackfillReport> =>
      runBackfill(context(gate), { from, to, days }),
  };
}

export type World = ReturnType<typeof world>;

export const published = (w: World): string[] =>
  w.bus.published('results').map((m) => (JSON.parse(String(m.data)) as { event_id: string }).event_id);

/** Every published id has one content, and the ids are the ledger's. */
export function checkResults(messages: readonly Message[], w: World): void {
  const contents = new Map<string, string>();
  for (const { data, attributes } of messages) {
    const id = attributes['result_id']!;
    assert.equal(contents.get(id) ?? String(data), String(data), 'one content for an id');
    contents.set(id, String(data));
  }
  assert.deepEqual([...contents.keys()].sort(), w.warehouse.ledger.map((row) => row.result_id).sort());
}

export async function start(settings?: Record<string, unknown>): Promise<World> {
  const w = world(settings);
  await w.tick();
  return w;
}

export type Fault = 'refuse' | 'lose' | 'crash before' | 'crash after';
export const FAULTS: readonly Fault[] = ['refuse', 'lose', 'crash before', 'crash after'];

/** A gate that does something at the n-th call; the promise of a crashed call never resolves. */
export function faulty(faults: ReadonlyMap<number, Fault>, crashed: () => void): Gate & { calls: PortCall[] } {
  const calls: PortCall[] = [];
  let current: Fault | undefined;
  const stop = () => {
    crashed();
    return new Promise<void>(() => undefined);
  };
  return {
    calls,
    before: async (call) => {
      current = faults.get(calls.length);
      calls.push(call);
      if (current === 'refuse') throw new TransientError('unavailable', 'refused');
      if (current === 'crash before') await stop();
    },
    after: async () => {
      if (current === 'lose') throw new AmbiguousError('lost');
      if (current === 'crash after') await stop();
    },
  };
}
