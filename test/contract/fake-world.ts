import { AmbiguousError, TransientError } from '../../functions/core/errors.ts';
import type { EventRow } from '../../functions/core/event.ts';
import { FakeBus } from '../fakes/bus.ts';
import { START } from '../fakes/clock.ts';
import type { Gate, PortCall } from '../fakes/gate.ts';
import { FakeStore } from '../fakes/store.ts';
import { FakeTable, whyOutside } from '../fakes/tables.ts';
import { FakeTasks } from '../fakes/tasks.ts';
import { FakeWarehouse } from '../fakes/warehouse.ts';
import type { PortName, Trouble, World } from './world.ts';

const EFFECTS = new Set(['store.commit', 'bus.publish', 'events.append', 'tasks.create', 'warehouse.start']);

/** The ports that the simulator uses, as it calls them. */
export async function fakeWorld(): Promise<World> {
  let now = START;
  let troubles: { readonly port: PortName; readonly trouble: Trouble; left: number }[] = [];
  const meets = ({ port, method }: PortCall, trouble: (one: Trouble) => boolean): boolean => {
    const one = troubles.find((other) => other.port === port && other.left > 0 && trouble(other.trouble));
    if (one === undefined || !EFFECTS.has(`${port}.${method}`)) return false;
    one.left--;
    return true;
  };
  const gate: Gate = {
    before: async (call) => {
      if (meets(call, (one) => one !== 'answer lost')) throw new TransientError('unavailable', 'refused');
    },
    after: async (call) => {
      if (meets(call, (one) => one === 'answer lost')) throw new AmbiguousError('the answer was lost');
    },
  };
  const store = new FakeStore();
  const bus = new FakeBus();
  const tasks = new FakeTasks(() => now);
  const events = new FakeTable<EventRow>(
    () => now,
    (row) => whyOutside(row.event_time, now),
  );
  const warehouse = new FakeWarehouse(events, () => now);
  const sent: string[] = [];
  let losing = false;
  tasks.onCreate = () => {
    if (losing) tasks.lose();
  };
  return {
    side: 'fake',
    store: store.port(gate),
    bus: bus.port(gate),
    events: events.port('events', gate),
    tasks: tasks.port(gate),
    warehouse: warehouse.port(gate),
    trouble: (port, trouble, times = Infinity) => void troubles.push({ port, trouble, left: times }),
    calm: () => {
      troubles = [];
    },
    now: () => now,
    advance: (micros) => {
      now += micros;
    },
    published: async (topic) => bus.published(topic),
    sent: async () => {
      sent.push(...tasks.take(now).map(({ name }) => name));
      return sent;
    },
    loseTasks: (lost) => {
      losing = lost;
    },
    commits: async () => events.commits.map(({ time, row }) => ({ time, id: row.event_id })),
    reference: async (joinKey, attribute) => void warehouse.reference.set(joinKey, attribute),
    endJobs: (ending) => {
      warehouse.endsInTime = () => ending;
    },
    expireResults: () => {
      for (const job of warehouse.jobs.values()) job.resultExpired = true;
    },
    stop: async () => undefined,
  };
}
