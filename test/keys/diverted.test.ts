import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { readLines } from '../../local/demo/input.ts';
import { Handlers } from './handlers.ts';

const MINUTE = 60e6;
const HOUR = 60 * MINUTE;
const SAMPLE = path.resolve(import.meta.dirname, '../../local/sample/flights.ndjson.gz');

interface Flight {
  readonly unique_key: string;
  readonly event_status: string;
  readonly timestamp: string;
}

const micros = ({ timestamp }: Flight): number => Date.parse(timestamp) * 1000;

test('diverted flights never complete: each one expired summary, and revision 2 when the arrival comes after all', async () => {
  const all = (await readLines(process.env['FLIGHTS'] ?? SAMPLE)).map((line) => JSON.parse(line) as Flight);
  const keysWith = (...statuses: string[]) =>
    new Set(all.filter((one) => statuses.includes(one.event_status)).map((one) => one.unique_key));
  const diverted = keysWith('diverted');
  const ended = new Set([...keysWith('arrived', 'cancelled')].filter((key) => !diverted.has(key)).slice(0, 50));
  const events = all.filter(({ unique_key: key }) => diverted.has(key) || ended.has(key));
  assert.ok(diverted.size >= 13);

  const cloud = new Handlers(micros(events[0]!) - HOUR, { COMPLETION_STATUSES: 'arrived,cancelled', SHARDS: '2' });
  for (const event of events) {
    // Each arrives within half an hour, twice.
    while (cloud.clock.now() < micros(event)) await cloud.pass(0.5 * HOUR, 0.5 * HOUR);
    assert.ok((await cloud.ingest(event)) < 300);
    await cloud.ingest(event);
    await cloud.deliverHints(2);
  }
  const early = [...diverted].flatMap((key) => cloud.summariesOf(key));
  assert.ok(
    early.every((one) => one === '1 expired'),
    'nothing else before the deadline',
  );

  await cloud.pass(24 * HOUR, HOUR);
  for (const key of diverted) assert.deepEqual(cloud.summariesOf(key), ['1 expired'], key);
  for (const key of ended) assert.deepEqual(cloud.summariesOf(key), ['1 finished'], key);
  const written = cloud.summaries.commits.length;
  assert.equal(written, diverted.size + ended.size);
  const expired = cloud.summaries.commits.filter(({ row }) => row.state === 'expired');
  for (const { row, time } of expired) {
    const last = Math.max(...events.filter((one) => one.unique_key === row.unique_key).map(micros));
    const waited = time - last;
    assert.ok(waited >= 24 * HOUR && waited <= 26 * HOUR, `${row.unique_key} expired after ${waited / HOUR} h`);
    assert.deepEqual([row.finish_time, row.complete], [null, false]);
  }
  await cloud.pass(20 * 24 * HOUR, 6 * HOUR);
  assert.equal(cloud.summaries.commits.length, written, 'and none for weeks after');

  const timestamp = new Date(cloud.clock.now() / 1000).toISOString();
  for (const key of diverted) {
    const arrival = { unique_key: key, event_id: 'late', event_status: 'arrived', timestamp };
    assert.ok((await cloud.ingest(arrival)) < 300);
    assert.ok((await cloud.ingest(arrival)) < 300);
    await cloud.deliverHints(2);
    assert.deepEqual(cloud.summariesOf(key), ['1 expired', '2 finished'], key);
  }
  assert.equal(cloud.summaries.commits.length, written + diverted.size);
  for (const key of diverted) {
    const { row } = cloud.summaries.commits.findLast((one) => one.row.unique_key === key)!;
    const count = events.filter((one) => one.unique_key === key).length;
    assert.deepEqual([row.total_steps, row.final_status, row.revision], [count + 1, 'arrived', 2]);
  }
  await cloud.pass(2 * HOUR, 10 * MINUTE);
  assert.equal(cloud.summaries.commits.length, written + diverted.size);
});
