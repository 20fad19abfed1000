import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkJoin } from '../../functions/join/check.ts';
import { runBackfill } from '../../functions/join/backfill.ts';
import { contexts } from '../../scripts/join/context.ts';
import { UsageError } from '../../scripts/join/options.ts';
import { priceBackfill } from '../../scripts/join/price.ts';
import { JoinCloud, text } from './cloud.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

let cloud: JoinCloud;
before(async () => {
  cloud = await JoinCloud.start();
});
after(() => cloud.stop());

const check = async (query: string, file = {}) => checkJoin(cloud.context(cloud.join('mine', query, file)));

test('a good SELECT is accepted, with the bytes of a run; nothing is billed', async () => {
  const before = cloud.meter.get('bigquery.bytes_billed');
  const found = await check('SELECT unique_key, event_id, TRUE AS enriched FROM new_events');
  assert.deepEqual(found, { join: 'mine', problem: null, bytes: found.bytes });
  assert.equal(cloud.meter.get('bigquery.bytes_billed') - before, 0);
});

const BROKEN: readonly [what: string, query: string, problem: RegExp][] = [
  ['an unknown column', '-- Mine.\nSELECT\n  unique_key,\n  event_id,\n  nowhere,\n  TRUE AS enriched\nFROM new_events', /^joins\/mine\/query\.sql:5: .*nowhere[^]*\n {2}nowhere,$/], // prettier-ignore
  ['an unknown column after empty lines', '\n\nSELECT unique_key, event_id, nowhere, TRUE AS enriched FROM new_events', /^joins\/mine\/query\.sql:3: /], // prettier-ignore
  ['a misspelt keyword', 'SELECT unique_key, event_id, TRUE AS enriched\nFORM new_events', /^joins\/mine\/query\.sql:2: /], // prettier-ignore
  ['an unknown table', 'SELECT unique_key, event_id, TRUE AS enriched FROM new_events\nJOIN `${dataset}.none` USING (join_key)', /none/], // prettier-ignore
  ['a bracket too few', 'SELECT unique_key, event_id, (TRUE AS enriched\nFROM new_events', /^joins\/mine\/query\.sql:\d/], // prettier-ignore
  ['no column enriched', 'SELECT unique_key, event_id\nFROM new_events', /^joins\/mine\/query\.sql: .*enriched/],
];
for (const [what, query, problem] of BROKEN) {
  test(`${what} is told by file, line and reason`, async () => {
    const found = await check(query);
    assert.match(found.problem ?? 'accepted', problem);
  });
}

test('a column that only the settings name is told with the settings', async () => {
  const { problem } = await check('SELECT unique_key, event_id, TRUE AS enriched FROM new_events', { order: ['age'] });
  assert.match(problem!, /age[^]*join\.json/);
});

test('the price of a backfill: its steps by dry runs, which grow with its days and bill nothing', async () => {
  const context = cloud.context(cloud.join('price', 'SELECT unique_key, event_id, payload, TRUE AS enriched FROM new_events')); // prettier-ignore
  const day = 86_400e6;
  // Far from the days of other tests.
  const today = (Math.floor(cloud.now / day) - 100) * day;
  for (let i = 1; i <= 4; i++)
    await cloud.insert({ event_id: `p-${i}`, event_time: text(today - i * day), payload: `"${'x'.repeat(1000)}"` });
  const price = (days: number, step: number) =>
    priceBackfill(context, { from: today - days * day, to: today, next: today - days * day, days: step });
  const before = cloud.meter.get('bigquery.bytes_billed');
  const [one, four, apart] = [await price(1, 31), await price(4, 31), await price(4, 2)];
  assert.equal(cloud.meter.get('bigquery.bytes_billed'), before);
  assert.deepEqual([one.steps, four.steps, apart.steps], [1, 1, 2]);
  assert.ok(one.bytes > 1000);
  assert.ok(Math.abs(four.bytes - 4 * one.bytes) < 100, `${one.bytes} and ${four.bytes} bytes`);
  assert.equal(apart.bytes, four.bytes);
  assert.ok(apart.largest < four.largest);
  assert.equal((await price(0, 31)).bytes, 0);
});

test('a backfill on the local BigQuery: history before the first run, once, under the ids that a run would give', async () => {
  const join = cloud.join('history', 'SELECT unique_key, event_id, TRUE AS enriched FROM new_events');
  const day = 86_400e6;
  for (let i = 1; i <= 4; i++) await cloud.insert({ event_id: `h-${i}`, event_time: text(cloud.now - i * day) });
  cloud.advance(3600);
  await cloud.tick(join);
  await cloud.insert({ event_id: 'live' });
  cloud.advance(120);
  const request = { from: cloud.now - 3 * day - 3720e6, to: cloud.now + day, days: 2 };
  const first = await runBackfill(cloud.context(join), request);
  const again = await runBackfill(cloud.context(join), request);
  await cloud.tick(join);
  assert.deepEqual([first.outcome, again.outcome, again.published], ['done', 'done', 0]);
  const ids = cloud.results().map((row) => row['event_id']);
  assert.deepEqual(ids.sort(), ['h-1', 'h-2', 'h-3', 'live']);
  assert.equal(new Set(cloud.bus.published('results').map(({ attributes }) => attributes['result_id'])).size, 4);
});

test("a backfill into one of Codaflow's own topics is refused", async () => {
  const place = { project: 'some-project', dataset: 'codaflow', location: null };
  const range = { from: 0, to: 86_400e6, days: 1, restart: false, dryRun: false, yes: true };
  await assert.rejects(
    contexts({ command: 'backfill', name: 'enrich', topic: 'watches', ...place, ...range }, () => undefined),
    (error) => error instanceof UsageError && error.message.startsWith('--topic watches is one of'),
  );
});
