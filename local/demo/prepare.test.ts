import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepare } from './prepare.ts';
import { DAY, micros } from './time.ts';

const now = micros('2026-03-01T12:00:00Z')!;
const options = { now, asRecorded: false, shuffle: null, repeat: 0, days: null };
const at = (id: string, timestamp: unknown): string =>
  `{"event_id":"${id}","timestamp":${JSON.stringify(timestamp)},"payload":{"n":1.0}}`;
const timeOf = (line: string): number => micros((JSON.parse(line) as { timestamp: unknown }).timestamp)!;

test('all times move by one number of whole days, so that the last lies within a day before now', () => {
  const times = ['2015-01-01T23:00:00.123456Z', 1420156800, '2015-01-03T15:30:00+02:00'];
  const { lines, days } = prepare(
    times.map((time, i) => at(String(i), time)),
    options,
  );
  const moved = lines.map(timeOf);
  assert.deepEqual(
    moved.map((time, i) => time - micros(times[i])!),
    moved.map(() => days * DAY),
  );
  assert.ok(moved[2]! <= now && moved[2]! > now - DAY);
});

test('nothing but the timestamp changes', () => {
  const line = '{ "payload" : {"n":1.0, "timestamp":"x"}, "timestamp" : "2015-01-01T10:00:00Z" }';
  const { lines } = prepare([line], options);
  assert.equal(lines[0]!.replace(/"\d{4}-\d\d-\d\dT/, '"2015-01-01T'), line);
});

test('the time may have another name', () => {
  const line = '{"timestamp":"2015-01-01T10:00:00Z","at":"2015-01-02T10:00:00Z"}';
  const names = (member: string): string => (member === 'timestamp' ? 'at' : member);
  const { lines } = prepare([line], { ...options, names });
  assert.equal(lines[0], '{"timestamp":"2015-01-01T10:00:00Z","at":"2026-03-01T10:00:00Z"}');
});

test('as recorded leaves lines alone, also those that are no events', () => {
  const lines = [at('1', '1999-01-01T00:00:00Z'), 'no json', '[]'];
  assert.deepEqual(prepare(lines, { ...options, asRecorded: true }).lines, lines);
});

test('a shuffle delays each event by at most a minute, and a seed gives one order', () => {
  const lines = Array.from({ length: 500 }, (_, i) => at(String(i), new Date(i * 7000).toISOString()));
  const run = (seed: number): readonly string[] => prepare(lines, { ...options, shuffle: seed, days: 0 }).lines;
  assert.deepEqual(run(7), run(7));
  assert.notDeepEqual(run(7), run(8));
  assert.notDeepEqual(run(7), lines);
  let latest = 0;
  for (const line of run(7)) {
    assert.ok(timeOf(line) > latest - 60_000_000, 'more than a minute late');
    latest = Math.max(latest, timeOf(line));
  }
});

test('a share of the events is there twice', () => {
  const lines = Array.from({ length: 1000 }, (_, i) => at(String(i), new Date(i * 1000).toISOString()));
  const { lines: published, repeats } = prepare(lines, { ...options, repeat: 0.1, days: 0 });
  assert.equal(published.length, 1000 + repeats);
  assert.equal(new Set(published).size, 1000);
  assert.ok(repeats > 60 && repeats < 140);
});
