import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOf } from './fields.ts';
import { completionHint, deadLetterHint, fieldsHint } from './hints.ts';

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
