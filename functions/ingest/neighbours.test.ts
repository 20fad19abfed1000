import fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeBus } from '../../test/fakes/bus.ts';
import { fakeClock } from '../../test/fakes/clock.ts';
import { OPEN } from '../../test/fakes/gate.ts';
import { FakeStore } from '../../test/fakes/store.ts';
import { FakeTable } from '../../test/fakes/tables.ts';
import { loadConfig } from '../config.ts';
import type { EventRow } from '../core/event.ts';
import { create } from '../ingest.ts';

/** What one message of a group may be; `bad` ones have keys of their own. */
type Sent = { readonly good: true; readonly data: string } | { readonly good: false; readonly data: string };

const event = (key: string, id: number, status: string): string =>
  JSON.stringify({ unique_key: key, event_id: `e${id}`, event_status: status, timestamp: '2024-01-05T09:00:00Z' });

const good = fc
  .tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(30), fc.constantFrom('started', 'completed'))
  // The status follows from the id, so that no two good events contradict each other.
  .map(([key, id, status]): Sent => ({
    good: true,
    data: event(key, id * 2 + Number(status === 'completed'), status),
  }));

const bad = fc
  .oneof(
    fc.constantFrom('', 'null', '[]', '{"unique_key":"x"}', '{"event_status":"s"}', '\u0000', "{'unique_key': 'a'}"),
    fc.nat(9).map((id) => event('refused', id, 'started')),
    // The same identity with another status: a conflict.
    fc.constantFrom('started', 'other').map((status) => event('conflict', 1, status)),
    fc.constant(event('k'.repeat(1501), 1, 'started')),
    fc.constant(event('late', 1, 'started').replace('2024-01-05', '1999-01-05')),
    fc.constant(event('unstorable', 1, 'started')),
  )
  .map((data): Sent => ({ good: false, data }));

/** Sends all at once, so that they share groups, and tells what became of the good ones. */
async function run(all: readonly Sent[]) {
  const clock = fakeClock();
  const store = new FakeStore();
  const events = new FakeTable<EventRow>(
    () => clock.now(),
    ({ unique_key: key }) => (key === 'refused' ? 'no' : null),
  );
  const bus = new FakeBus();
  const port = store.port();
  const ports = {
    clock,
    bus: bus.port(OPEN),
    events: events.port('events', OPEN),
    store: {
      ...port,
      // A key whose document cannot be written fails every transaction that it is in.
      transaction: ((work) =>
        port.transaction((tx) =>
          work({
            ...tx,
            get: (paths) => tx.get(paths),
            set(path, document) {
              if (document['key'] === 'unstorable') throw new RangeError('the document cannot be stored');
              tx.set(path, document);
            },
          }),
        )) as typeof port.transaction,
    },
  };
  const config = loadConfig({ PROJECT_ID: 'neighbours' });
  const handler = create({ config, ports, log: () => undefined });
  const statuses = await Promise.all(
    all.map(async ({ data }) => {
      const message = {
        data: Buffer.from(data).toString('base64'),
        messageId: 'm',
        publishTime: '2024-01-05T09:30:00Z',
      };
      const request = { method: 'POST', path: '/', headers: {}, body: { message }, rawBody: null };
      return (await handler(request, () => undefined)).status;
    }),
  );
  const ours = (key: unknown): boolean => typeof key === 'string' && /^[abcd]$/.test(key);
  return {
    answers: statuses.filter((_, index) => all[index]!.good),
    rows: events.commits.map(({ row }) => row).filter(({ unique_key: key }) => ours(key)),
    states: [...store.dump()].filter(([, { key }]) => ours(key)),
    hints: new Set(bus.published('completions').map(({ data }) => String(data))),
  };
}

test('whatever comes with them in a group, good events fare as if they were alone', async () => {
  const group = fc.array(fc.oneof({ weight: 3, arbitrary: good }, { weight: 2, arbitrary: bad }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(group, async (all) => {
      const together = await run(all);
      const alone = await run(all.filter((one) => one.good));
      assert.deepEqual(together.answers, alone.answers);
      assert.deepEqual(together.rows, alone.rows);
      assert.deepEqual(together.states, alone.states);
      assert.deepEqual(together.hints, alone.hints);
      assert.ok(together.answers.every((status) => status === 204 || status === 200));
    }),
    { numRuns: 150 },
  );
});
