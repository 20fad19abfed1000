import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { expect, type Expected } from './oracle.ts';
import { micros } from './time.ts';

const now = micros('2026-03-01T12:00:00Z')!;
const event = (overrides: object): string =>
  JSON.stringify({
    event_id: 'e-1',
    unique_key: 'k',
    event_status: 'started',
    timestamp: '2026-03-01T10:00:00Z',
    ...overrides,
  });
const fold = (...lines: string[]): Expected =>
  expect(
    lines.map((line, i) => ({ line, messageId: `m-${i}` })),
    { completion: ['done'], reference: [{ join_key: 'A', target_attribute: 'Ay', updated_at: null }], now },
  );

test('a completed key has a summary over the set of its events', () => {
  const last = event({ event_id: 'e-2', event_status: 'done', timestamp: '2026-03-01T10:00:01.5Z' });
  const summary = fold(last, event({}), last).summaries.get('k')!;
  assert.equal(summary.totalSteps, 2);
  assert.equal(summary.finishTime - summary.startTime, 1_500_000);
  assert.equal(summary.finalStatus, 'done');
  assert.equal(summary.complete, true);
});

test('the fold does not depend on the order', () => {
  const lines = Array.from({ length: 8 }, (_, i) =>
    event({ event_id: `e-${i}`, event_status: i % 3 === 0 ? 'done' : 'step', timestamp: 1.77e9 + (i % 4) }),
  );
  const wanted = fold(...lines).summaries;
  fc.assert(
    fc.property(fc.shuffledSubarray(lines, { minLength: 8 }), (shuffled) => {
      assert.deepEqual(fold(...shuffled).summaries, wanted);
    }),
  );
});

test('numbers: exactly 1 to the announced total', () => {
  const complete = (...numbers: [string, number][]): boolean =>
    fold(
      ...numbers.map(([status, n]) => event({ event_id: String(n), event_status: status, sequence: n })),
    ).summaries.get('k')!.complete;
  assert.equal(complete(['a', 1], ['b', 2], ['done', 3]), true);
  assert.equal(complete(['a', 1], ['done', 3]), false);
  assert.equal(complete(['a', 1], ['b', 4], ['done', 3], ['c', 2]), false);
});

test('what can never be an event is expected as a dead letter', () => {
  const reason = (line: string): string | undefined => fold(line).deadLetters[0]?.reason;
  assert.equal(reason('{'), 'invalid_json');
  assert.equal(reason('[1]'), 'not_an_object');
  assert.equal(reason(event({ unique_key: ' ' })), 'missing_key');
  assert.equal(reason(event({ event_status: 3 })), 'wrong_type');
  assert.equal(reason(event({ timestamp: 'yesterday' })), 'invalid_timestamp');
  assert.equal(reason(event({ timestamp: '2015-01-01T00:00:00Z' })), 'timestamp_out_of_range');
  assert.equal(reason(event({})), undefined);
});

test('without an id the message is the event, and the payload keeps its text', () => {
  const { events, targets } = fold(
    '{"unique_key":"k","event_status":"s","timestamp":1772000000,"join_key":"A","payload":{"n":1.0}}',
  );
  assert.deepEqual([...events.values()][0], {
    uniqueKey: 'k',
    eventId: 'm-0',
    eventStatus: 's',
    eventTime: 1_772_000_000_000_000,
    joinKey: 'A',
    sequence: null,
    payload: '{"n":1.0}',
  });
  assert.deepEqual([...targets.values()], ['Ay']);
});

test('one identity with two contents decides nothing about its key', () => {
  assert.deepEqual([...fold(event({}), event({ event_status: 'done' })).undecided], ['k']);
});
