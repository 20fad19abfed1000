import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expect } from './oracle.ts';
import { micros, rfc3339 } from './time.ts';
import { judge, passed, type Observed } from './verdict.ts';
import type { Row } from './observe.ts';

const now = micros('2026-03-01T12:00:00Z')!;
const time = now - 3_600_000_000;
const line = `{"event_id":"e","unique_key":"k","event_status":"done","timestamp":"${rfc3339(time)}","join_key":"A","payload":{"n":1}}`;
const reference = [{ join_key: 'A', target_attribute: 'Ay', updated_at: null }];
const expected = expect(
  [line, line, 'no json'].map((text, i) => ({
    ...{ messageId: String(i), data: Buffer.from(text), attributes: {}, time: now },
  })),
  { completion: ['done'], reference, now },
);

const base = { unique_key: 'k', event_id: 'e' };
const message = { ...base, payload: '{"n":1}', target_attribute: 'Ay', enriched: true };
const right = {
  events_unique: [
    { ...base, event_status: 'done', event_time: rfc3339(time), join_key: 'A', sequence: null, payload: '{"n":1}' },
  ],
  summaries_latest: [
    {
      unique_key: 'k',
      state: 'finished',
      complete: true,
      final_status: 'done',
      total_steps: 1,
      start_time: rfc3339(time),
      finish_time: rfc3339(time),
      last_event_time: rfc3339(time),
      duration_seconds: 0,
      steps: [{ event_id: 'e', event_status: 'done', event_time: rfc3339(time) }],
    },
  ],
  joined: [{ ...base, join_name: 'enrich', message: JSON.stringify(message) }],
  dead_letters: [{ data: Buffer.from('no json').toString('base64'), attributes: '{"reason":"invalid_json"}' }],
};
const result = { messageId: '9', attributes: { result_id: 'r' }, message };

function failures(
  output: Partial<Record<keyof typeof right, readonly Row[]>>,
  observed: Partial<Observed> = {},
): string[] {
  const checks = judge(expected, {
    output: { ...right, ...output },
    counts: { rawRows: 3, open: 0, finished: 1 },
    results: [result, result],
    lost: 0,
    knownJoin: true,
    ...observed,
  });
  return checks.filter((check) => !passed(check)).map(({ name }) => name);
}

test('what is right passes, repeats of a result included', () => assert.deepEqual(failures({}), []));

test('every wrong row is found', () => {
  assert.deepEqual(failures({ events_unique: [] }), ['unique']);
  assert.deepEqual(failures({ events_unique: [...right.events_unique, ...right.events_unique] }), ['unique']);
  assert.deepEqual(failures({ events_unique: [{ ...right.events_unique[0], payload: '{"n":1.0}' }] }), ['unique']);
  assert.deepEqual(failures({ summaries_latest: [{ ...right.summaries_latest[0], total_steps: 2 }] }), ['summaries']);
  assert.deepEqual(failures({ joined: [{ ...base, join_name: 'enrich', message: '{}' }] }), ['joined']);
  assert.deepEqual(failures({ dead_letters: [] }), ['dead_letters']);
  assert.deepEqual(failures({}, { results: [] }), ['results']);
  assert.deepEqual(failures({}, { lost: 1 }), ['published']);
  assert.deepEqual(failures({}, { results: [result, { ...result, attributes: { result_id: 'other' } }] }), ['results']);
  assert.deepEqual(failures({}, { counts: { rawRows: 1, open: 1, finished: 0 } }), ['rows', 'finished', 'open']);
});

test("rows of other joins are nobody's business here, and with a join of one's own nothing is claimed about its rows", () => {
  assert.deepEqual(failures({ joined: [...right.joined, { ...base, join_name: 'mine', message: '{}' }] }), []);
  const other = { messageId: '8', attributes: { result_id: 's', join: 'mine' }, message: {} };
  assert.deepEqual(failures({}, { results: [result, other] }), []);
  assert.deepEqual(failures({ joined: [] }, { knownJoin: false, results: [] }), []);
});
