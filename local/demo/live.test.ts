import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Live } from './live.ts';

const message = (data: unknown, attributes: Record<string, string> = {}, publishTime = 0) => {
  const content = { data: Buffer.from(JSON.stringify(data)), attributes, orderingKey: '' };
  return { ...content, id: '1', publishTime, size: 0, holders: 0 };
};
const topic = (name: string): string => `projects/codaflow-local/topics/${name}`;
const summary = { unique_key: 'k', revision: 2, state: 'finished', complete: true, final_status: 'done', total_steps: 1, duration_seconds: 1.5 }; // prettier-ignore

test('summaries and dead letters have a line each, once it is started', () => {
  const lines: string[] = [];
  const live = new Live((line) => lines.push(line));
  live.listener(topic('summaries'), [message(summary)]);
  assert.equal(lines.length, 0);
  live.start();
  live.listener(topic('events'), [message({})]);
  live.listener(topic('summaries'), [message(summary)]);
  live.listener(topic('dead-letters'), [message({}, { reason: 'missing_key', hint: 'give it one' }), message({}, { reason: 'too_deep', unique_key: 'a\u001b[2J' })]); // prettier-ignore
  const rest = lines.map((line) => line.slice(10));
  assert.deepEqual(rest, [
    'summary      "k"  finished by "done" after 1 step, 1.5 s, revision 2',
    'dead letter  "{}"  missing_key: give it one',
    'dead letter  "a\\u001b[2J"  too_deep',
  ]);
});

test('of a flood most is counted only', () => {
  const lines: string[] = [];
  const live = new Live((line) => lines.push(line));
  live.start();
  live.listener(
    topic('summaries'),
    Array.from({ length: 30 }, () => message(summary)),
  );
  live.listener(topic('summaries'), [message(summary, {}, 1000)]);
  assert.equal(lines.length, 22);
  assert.match(lines[20]!, /and 10 more/);
});
