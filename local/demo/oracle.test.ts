import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, type Expected, type Published } from './oracle.ts';
import { DAY, micros } from './time.ts';

const now = micros('2026-03-01T12:00:00Z')!;
const event = (overrides: object): string =>
  JSON.stringify({
    event_id: 'e-1',
    unique_key: 'k',
    event_status: 'started',
    timestamp: '2026-03-01T10:00:00Z',
    ...overrides,
  });
const message = (line: string | Buffer, i: number, more: Partial<Published> = {}): Published => ({
  ...{ messageId: `m-${i}`, data: Buffer.from(line), attributes: {}, time: now },
  ...more,
});
const options = { completion: ['done'], reference: [{ join_key: 'A', target_attribute: 'Ay', updated_at: null }], now };
const fold = (...lines: string[]): Expected =>
  expect(
    lines.map((line, i) => message(line, i)),
    options,
  );

test('a completed key has a summary over the set of its events', () => {
  const last = event({ event_id: 'e-2', event_status: 'done', timestamp: '2026-03-01T10:00:01.5Z' });
  const summary = fold(last, event({}), last).summaries.get('k')!;
  assert.equal(summary.totalSteps, 2);
  assert.equal(summary.finishTime! - summary.startTime, 1_500_000);
  assert.equal(summary.finalStatus, 'done');
  assert.equal(summary.complete, true);
});

test('each message is read by the names that were in force when it came', () => {
  const line = JSON.stringify({ id: 'k', status: 'done', at: '2026-03-01T10:00:00Z', city: 'A', payload: [1.0] });
  const text = 'unique_key=id,event_status=status,timestamp=at,join_key=city';
  const { deadLetters, events, targets } = expect([message(line, 0, { time: now - 1 }), message(line, 1)], {
    ...options,
    fields: [
      { since: 0, text: '' },
      { since: now, text },
    ],
  });
  assert.deepEqual(deadLetters, [{ data: Buffer.from(line), reason: 'missing_key' }]);
  const [entry] = events;
  const [id, found] = entry!;
  assert.deepEqual([found.eventStatus, found.payload, targets.get(id)], ['done', '[1]', 'Ay']);
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

test('attributes count: an id, and compressed data', () => {
  const bare = '{"unique_key":"k","event_status":"s","timestamp":"2026-03-01T10:00:00Z"}';
  const one = (data: string | Buffer, attributes: Record<string, string>) =>
    expect([message(data, 0, { attributes })], options);
  const idOf = ({ events }: Expected) => [...events.values()].map(({ eventId }) => eventId);
  assert.deepEqual(idOf(one(bare, { event_id: 'mine' })), ['mine']);
  assert.deepEqual(idOf(one(gzipSync(bare), { 'content-encoding': 'gzip' })), ['m-0']);
  const reason = (data: string | Buffer, attributes = {}) => one(data, attributes).deadLetters[0]?.reason;
  assert.equal(reason(gzipSync(bare)), 'invalid_utf8');
  assert.equal(reason(bare, { 'content-encoding': 'br' }), 'unsupported_encoding');
  assert.equal(reason(''), 'empty_data');
  const nested = (levels: number) => `${bare.slice(0, -1)},"payload":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  assert.equal(reason(nested(499)), undefined);
  assert.equal(reason(nested(500)), 'too_deep');
});

test('a key without completion expires after a day of silence; near the end of the day either is right', () => {
  const fate = (...hours: number[]) => {
    const messages = hours.map((ago, i) => message(event({ event_id: `e-${i}` }), i, { time: now - ago * (DAY / 24) }));
    const { openKeys, summaries, undecided } = expect(messages, options);
    return undecided.has('k') ? 'undecided' : openKeys.has('k') ? 'open' : summaries.get('k')?.state;
  };
  assert.equal(fate(1), 'open');
  assert.equal(fate(25, 2), 'open');
  assert.equal(fate(25), 'expired');
  assert.equal(fate(24.01), 'undecided');
  assert.equal(fate(30, 1), 'undecided', 'it expired, and is open again');
});

test('events that came over HTTP count like published ones', () => {
  const [first] = [...fold(event({})).events.values()];
  const { events, published, written } = expect([], { ...options, written: [{ event: first!, time: now }] });
  assert.deepEqual([events.size, published, written], [1, 0, 1]);
});
