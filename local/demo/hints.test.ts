import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOf } from './fields.ts';
import { completionHint, deadLetterHint, fieldsHint, joinHints } from './hints.ts';

const event = (unique_key: string, event_status: string, second = 0): string =>
  JSON.stringify({ unique_key, event_status, timestamp: `2026-01-01T00:00:0${second}Z` });

test('when nothing completes a key, the most frequent last statuses are named', () => {
  const lines = [event('a', 'shipped', 2), event('a', 'paid', 1), event('b', 'shipped'), event('c', 'lost in post')];
  const hint = completionHint([...lines, '{broken', '{}'], ['done'])!;
  assert.match(hint, /None of the 4 events .*\(done\).*"shipped" \(2 keys\), "lost in post" \(1 key\)/);
  assert.match(hint, /--completion shipped,'lost in post'$/);
  assert.equal(completionHint(lines, ['paid']), null);
  assert.equal(completionHint(['{}'], ['done']), null);
});

test('dead letters are counted by reason', () => {
  const letter = (reason: string) => ({ attributes: JSON.stringify({ reason }) });
  assert.equal(deadLetterHint([]), null);
  assert.match(deadLetterHint([letter('a'), letter('b'), letter('b')])!, /b \(2\), a \(1\)/);
});

test('when no event has a member that it must have, the members that it has are named', () => {
  const line = '{"id":"a","status":"done","timestamp":0}';
  const hint = fieldsHint(['{}', 'broken', line])!;
  assert.match(hint, /No event has "unique_key", "event_status"; the first one has "id", "status"\./);
  assert.match(hint, /--set EVENT_FIELDS=unique_key=NAME,event_status=NAME$/);
  const names = namesOf('unique_key=id, event_status=status');
  assert.equal(fieldsHint([line], names), null);
  assert.equal(fieldsHint(['{}', event('a', 'b')]), null);
  assert.equal(fieldsHint(['[]']), null);
  assert.match(completionHint([line], ['shipped'], names)!, /"done" \(1 key\)/);
});

test("a join of one's own is counted, and one that fails says why", () => {
  const line = (join: string, event: string, message?: string): string =>
    JSON.stringify({ join, event, ...(message !== undefined && { error: { message } }) });
  const log = [
    line('crm', 'join.failed', 'unavailable'),
    line('crm', 'join.done'),
    line('bad', 'join.done'),
    line(
      'bad',
      'join.failed',
      'the merge-0 failed for good: joins/bad/query.sql:2: job codaflow_bad_0: Not found: Table x\n  FROM x',
    ),
    line('bad', 'join.plan'),
  ];
  const joins = [
    { name: 'crm', topic: 'leads', rows: 1 },
    { name: 'bad', topic: 'results', rows: 0 },
  ];
  const [crm, bad] = joinHints(joins, log);
  assert.match(crm!, /^The join crm has published 1 row to the topic leads so far/);
  assert.match(
    bad!,
    /^The join bad fails: joins\/bad\/query.sql:2: Not found: Table x\. npm run join -- check shows where; --table/,
  );
});
