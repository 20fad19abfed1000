import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { FakeBus } from '../../test/fakes/bus.ts';
import { fakeClock, requestEnd } from '../../test/fakes/clock.ts';
import { OPEN, type Gate } from '../../test/fakes/gate.ts';
import { FakeTable } from '../../test/fakes/tables.ts';
import { loadConfig } from '../config.ts';
import type { Delivery, Event, EventRow } from '../core/event.ts';
import { AmbiguousError, PermanentError, TransientError } from '../core/errors.ts';
import { tooLate, type End } from '../end.ts';
import type { LogEntry } from '../log.ts';
import type { Appended, Bus } from '../ports.ts';
import type { Recorded, Recording } from './commit.ts';
import { createPipeline, type Outcome } from './pipeline.ts';

interface Due {
  readonly uniqueKey: string;
}

/** Remembers identities as the state of the keys does; a completion makes its key due. */
class FakeRecording implements Recording<Due> {
  readonly seen = new Map<string, string>();
  readonly inFlight = new Set<string>();
  /** Called before each transaction; what it throws fails the transaction. */
  fault: (events: readonly Event[]) => Promise<void> = async () => undefined;

  async record(events: readonly Event[], end: End): Promise<{ outcomes: Recorded[]; due: Due[] }> {
    if (!end.fits()) throw tooLate();
    const keys = new Set(events.map(({ uniqueKey }) => uniqueKey));
    assert.ok(keys.size <= 20 && events.length <= 200);
    for (const key of keys) {
      assert.ok(!this.inFlight.has(key), `two transactions for ${key}`);
      this.inFlight.add(key);
    }
    try {
      await this.fault(events);
      const due = new Set(events.filter(({ eventStatus }) => eventStatus === 'finished').map((e) => e.uniqueKey));
      return { outcomes: events.map((event) => this.#one(event)), due: [...due].map((uniqueKey) => ({ uniqueKey })) };
    } finally {
      for (const key of keys) this.inFlight.delete(key);
    }
  }

  #one({ uniqueKey, eventId, eventStatus }: Event): Recorded {
    const id = JSON.stringify([uniqueKey, eventId]);
    const before = this.seen.get(id);
    this.seen.set(id, before ?? eventStatus);
    if (before === undefined) return { kind: 'recorded' };
    return before === eventStatus ? { kind: 'repeated' } : { kind: 'conflict', message: `was ${before}` };
  }

  message({ uniqueKey }: Due) {
    return { data: uniqueKey, attributes: {} };
  }
}

function setup(gate: Gate = OPEN, refuse: (row: EventRow) => string | null = () => null) {
  const clock = fakeClock();
  const bus = new FakeBus();
  const table = new FakeTable<EventRow>(() => clock.now(), refuse);
  const recording = new FakeRecording();
  const config = loadConfig({ PROJECT_ID: 'local-project', MAX_DELIVERY_ATTEMPTS: '5' });
  const ports = { clock, bus: bus.port(gate), events: table.port('events', gate) };
  const lines: LogEntry[] = [];
  const groups: LogEntry[] = [];
  const pipeline = createPipeline(config, ports, recording, (line) => groups.push(line));
  const ingest = (one: Delivery) => pipeline.ingest(one, requestEnd(clock), (line) => lines.push(line));
  return { clock, bus, table, recording, ports, config, lines, groups, ingest };
}

function delivery(fields: object | string, changes: Partial<Delivery> = {}): Delivery {
  const base = { unique_key: 'k', event_id: 'e-1', event_status: 'started', timestamp: '2024-01-05T10:00:00Z' };
  const text = typeof fields === 'string' ? fields : JSON.stringify({ ...base, ...fields });
  return { data: Buffer.from(text), attributes: {}, messageId: 'm-1', publishTime: null, deliveryAttempt: null, origin: 'subscription', orderingKey: null, ...changes }; // prettier-ignore
}

const codeOf = (outcome: Outcome) => (outcome.kind === 'rejected' ? outcome.code : outcome.kind);

/** Fails the calls of one port, before or after their effect. */
function failing(port: string, resource: string, when: 'before' | 'after', error: Error): Gate {
  const fail = async (call: { port: string; resource: string }) => {
    if (call.port === port && call.resource === resource) throw error;
  };
  return { ...OPEN, [when]: fail };
}

describe('the pipeline', () => {
  test('stores, records, wakes; a repeat has no second effect but wakes again', async () => {
    const { ingest, table, bus } = setup();
    assert.equal((await ingest(delivery({}))).kind, 'stored');
    assert.equal((await ingest(delivery({ event_id: 'e-2', event_status: 'finished' }))).kind, 'stored');
    assert.equal((await ingest(delivery({ event_id: 'e-2', event_status: 'finished' }))).kind, 'repeated');
    assert.equal(table.commits.length, 3);
    assert.deepEqual(
      bus.published('completions').map(({ data }) => data),
      ['k', 'k'],
    );
    assert.deepEqual(bus.published('deadLetters'), []);
  });

  test('a line for each group tells what became of its events', async () => {
    const { ingest, groups } = setup(OPEN, (row) => (row.event_id === 'bad' ? 'no' : null));
    const all = [delivery({}), delivery({ event_id: 'e-2' }), delivery({}), delivery({ event_status: 'other' }), delivery({ event_id: 'bad' })]; // prettier-ignore
    await Promise.all(all.map(ingest));
    assert.deepEqual(
      groups.map(({ event, events, stored, repeated, rejected, failed }) => [
        event,
        events,
        stored,
        repeated,
        rejected,
        failed,
      ]),
      [
        ['ingest.group', 1, 1, 0, 0, 0],
        ['ingest.group', 4, 1, 1, 2, 0],
      ],
    );
  });

  test('what can never succeed goes to the dead letters with its bytes, and nowhere else', async () => {
    const { ingest, table, bus, recording, lines } = setup();
    const text = "{'event_id': 'e-1', 'payload': None}";
    const outcome = await ingest(delivery(text, { attributes: { source: 'shop', reason: 'mine' } }));
    assert.equal(codeOf(outcome), 'invalid_json');
    const [letter] = bus.published('deadLetters');
    assert.equal(Buffer.from(letter!.data as Uint8Array).toString(), text);
    assert.equal(letter!.attributes['reason'], 'invalid_json');
    assert.match(letter!.attributes['hint']!, /json\.dumps/);
    assert.deepEqual([letter!.attributes['source'], letter!.attributes['original_reason']], ['shop', 'mine']);
    assert.equal(letter!.attributes['event_id'], 'm-1');
    assert.equal(table.commits.length + recording.seen.size, 0);
    assert.deepEqual(
      lines.map(({ event, code }) => [event, code]),
      [['ingest.dead_letter', 'invalid_json']],
    );
    assert.ok(!JSON.stringify(lines).includes('payload'));
  });

  test('a dead letter that cannot be published is not acknowledged', async () => {
    const { ingest } = setup(failing('bus', 'deadLetters', 'before', new TransientError('unavailable', 'down')));
    assert.equal((await ingest(delivery('{bad'))).kind, 'retry');
  });

  test('a refused row is dead-lettered, its neighbours are stored', async () => {
    const { ingest, table, recording } = setup(OPEN, (row) => (row.event_id === 'bad' ? 'bad value' : null));
    const ids = ['e-1', 'bad', 'e-3', 'e-4'];
    const outcomes = await Promise.all(ids.map((event_id) => ingest(delivery({ event_id }))));
    assert.deepEqual(outcomes.map(codeOf), ['stored', 'row_refused', 'stored', 'stored']);
    assert.equal(table.commits.length, 3);
    assert.equal(recording.seen.size, 3);
  });

  test('an unknown column is a passing failure', async () => {
    const { ingest, bus } = setup(OPEN, () => 'no such field: new_col.');
    const outcome = await ingest(delivery({}));
    assert.ok(
      outcome.kind === 'retry' && outcome.error instanceof TransientError && outcome.error.code === 'schema_mismatch',
    );
    assert.deepEqual(bus.published('deadLetters'), []);
  });

  test('an append refused as a whole is taken apart until the culprit is found', async () => {
    const { clock, bus, recording, config } = setup();
    const appends: number[] = [];
    const events = {
      append: async (rows: readonly EventRow[]): Promise<Appended[]> => {
        appends.push(rows.length);
        if (rows.some((row) => row.event_id === 'bad')) throw new PermanentError('row_refused', 'request refused');
        return rows.map(() => ({ ok: true }));
      },
    };
    const pipeline = createPipeline(config, { clock, bus: bus.port(OPEN), events }, recording, () => undefined);
    const ids = ['first', 'a', 'b', 'bad', 'c', 'd'];
    const outcomes = await Promise.all(
      ids.map((event_id) => pipeline.ingest(delivery({ event_id }), requestEnd(clock), () => undefined)),
    );
    assert.deepEqual(outcomes.map(codeOf), ['stored', 'stored', 'stored', 'row_refused', 'stored', 'stored']);
    assert.deepEqual(appends, [1, 5, 3, 2, 1, 2]);
  });

  test('without an answer of the append nothing is recorded, and the repeat succeeds', async () => {
    const error = new AmbiguousError('answer lost');
    const { ingest, table, recording } = setup(failing('events', 'events', 'after', error));
    const outcome = await ingest(delivery({}));
    assert.deepEqual([outcome.kind, table.commits.length, recording.seen.size], ['retry', 1, 0]);
  });

  test('a failed transaction fails its events only after the rows are there', async () => {
    const { ingest, table, recording } = setup();
    recording.fault = async () => {
      throw new TransientError('contention', 'busy');
    };
    assert.equal((await ingest(delivery({}))).kind, 'retry');
    recording.fault = async () => undefined;
    assert.equal((await ingest(delivery({}))).kind, 'stored');
    assert.equal(table.commits.length, 2);
  });

  test('an event whose wake-up could not be sent is not acknowledged', async () => {
    const { ingest } = setup(failing('bus', 'completions', 'before', new AmbiguousError('lost')));
    assert.equal((await ingest(delivery({ event_status: 'finished' }))).kind, 'retry');
    assert.equal((await ingest(delivery({ event_id: 'e-2' }))).kind, 'stored');
  });

  test('a wake-up that is refused for good is no fault of the event: it is not acknowledged, and no dead letter', async () => {
    const { bus, ports, recording, config, clock } = setup();
    const refusing: Bus = {
      publish: async (topic, messages) =>
        topic === 'completions'
          ? messages.map(() => new PermanentError('message_refused', 'the topic has a schema'))
          : bus.publish(topic, messages),
    };
    const pipeline = createPipeline(config, { ...ports, bus: refusing }, recording, () => undefined);
    const ingest = (attempt: number) =>
      pipeline.ingest(delivery({ event_status: 'finished' }, { deliveryAttempt: attempt }), requestEnd(clock), () => undefined); // prettier-ignore
    assert.equal(codeOf(await ingest(1)), 'retry');
    assert.equal(bus.published('deadLetters').length, 0);
    assert.equal(codeOf(await ingest(5)), 'delivery_attempts_exhausted');
    assert.equal(bus.published('deadLetters')[0]!.attributes['cause'], 'message_refused');
  });

  test('the same identity with another content is a conflict', async () => {
    const { ingest, bus } = setup();
    await ingest(delivery({}));
    assert.equal(codeOf(await ingest(delivery({ event_status: 'completed' }))), 'event_id_conflict');
    assert.equal(bus.published('deadLetters')[0]!.attributes['unique_key'], 'k');
  });

  test('the last delivery attempt dead-letters with the cause', async () => {
    const { ingest, bus } = setup(failing('events', 'events', 'before', new TransientError('unavailable', 'down')));
    assert.equal((await ingest(delivery({}, { deliveryAttempt: 4 }))).kind, 'retry');
    assert.equal(codeOf(await ingest(delivery({}, { deliveryAttempt: 5 }))), 'delivery_attempts_exhausted');
    const { attributes } = bus.published('deadLetters')[0]!;
    assert.deepEqual([attributes['cause'], attributes['delivery_attempt']], ['unavailable', '5']);
  });

  test('a group that ran out of time begins no further transaction', async () => {
    const { ingest, clock, recording } = setup();
    recording.fault = async (events) => {
      if (events[0]!.eventId === 'first') clock.advance(1e6);
      else clock.advance(26e6);
    };
    const first = ingest(delivery({ event_id: 'first' }));
    // More events of one key than one transaction takes.
    const rest = Array.from({ length: 250 }, (_, i) => ingest(delivery({ event_id: `e-${i}` })));
    assert.equal((await first).kind, 'stored');
    const kinds = (await Promise.all(rest)).map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === 'stored').length, 200);
    assert.equal(kinds.filter((kind) => kind === 'retry').length, 50);
  });

  test('under random failures and delays every request hears the fate of its own event', async () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      id: fc.integer({ min: 0, max: 12 }),
      bad: fc.integer({ min: 0, max: 9 }),
    });
    const plan = fc.record({
      steps: fc.array(step, { minLength: 1, maxLength: 80 }),
      faults: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ steps, faults }) => {
        let call = 0;
        const chance = () => faults[call++ % faults.length]!;
        const pause = () => setImmediate();
        const gate: Gate = {
          before: async () => {
            if (chance() > 7) await pause();
            if (chance() > 8) throw new TransientError('unavailable', 'refused');
          },
          after: async () => {
            if (chance() > 8) throw new AmbiguousError('lost');
          },
        };
        const { ingest, table, recording, bus } = setup(gate, (row) => (row.event_id.startsWith('bad') ? 'bad' : null));
        recording.fault = async () => {
          if (chance() > 5) await pause();
          if (chance() > 7) throw new TransientError('contention', 'busy');
        };
        const outcomes = await Promise.all(
          steps.map(async ({ key, id, bad }, i) => {
            if (bad > 5) await pause();
            const event_id = bad === 9 ? `bad-${i}` : `e-${id}`;
            return {
              key,
              event_id,
              outcome: await ingest(bad === 8 ? delivery('{') : delivery({ unique_key: key, event_id })),
            };
          }),
        );
        const rows = new Set(table.commits.map(({ row }) => JSON.stringify([row.unique_key, row.event_id])));
        const stored = outcomes.filter(({ outcome }) => outcome.kind === 'stored');
        const identities = stored.map(({ key, event_id }) => JSON.stringify([key, event_id]));
        assert.equal(new Set(identities).size, identities.length, 'stored twice');
        for (const { key, event_id, outcome } of outcomes) {
          const id = JSON.stringify([key, event_id]);
          if (outcome.kind === 'stored' || outcome.kind === 'repeated') {
            assert.equal(outcome.event.uniqueKey + outcome.event.eventId, key + event_id);
            assert.ok(rows.has(id) && recording.seen.has(id));
          }
        }
        const rejected = outcomes.filter(({ outcome }) => outcome.kind === 'rejected').length;
        assert.ok(bus.published('deadLetters').length >= rejected);
      }),
      { numRuns: 200 },
    );
  });
});
