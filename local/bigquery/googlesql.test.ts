import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createEvents, restClient } from './fixture.ts';
import { startBigQuery } from './server.ts';
import type { BigQueryServer } from './types.ts';

let server: BigQueryServer;

before(async () => {
  server = await startBigQuery();
  await createEvents(restClient(server));
  await server.insertRows('ds.events', [
    { event_id: 'a', event_time: '2026-01-01 10:00:00' },
    { event_id: 'b', event_time: '2026-01-02 10:00:00' },
  ]);
});

after(async () => {
  await server.stop();
});

test('the query of a view is checked when the view is made', async () => {
  const dataset = restClient(server).dataset('ds');
  const view = (query: string): object => ({ view: { query, useLegacySql: false } });
  await assert.rejects(dataset.createTable('bad', view('SELECT nothing FROM `local.ds.events`')), { code: 400 });
  const [made] = await dataset.createTable(
    'days',
    view('SELECT DATE(event_time) AS day, event_id FROM `local.ds.events`'),
  );
  const metadata = (await made.getMetadata())[0] as {
    type: string;
    schema: { fields: { name: string; type: string }[] };
  };
  assert.equal(metadata.type, 'VIEW');
  assert.deepEqual(
    metadata.schema.fields.map(({ name, type }) => [name, type]),
    [
      ['day', 'DATE'],
      ['event_id', 'STRING'],
    ],
  );
  assert.deepEqual(await server.query("SELECT day FROM ds.days WHERE event_id = 'b'"), [{ day: '2026-01-02' }]);
});

test('constant predicates on the partitioning column leave their partitions only', async () => {
  const query =
    "SELECT event_id FROM `local.ds.events` WHERE event_time >= TIMESTAMP '2026-01-02 12:00:00+00' AND event_time < TIMESTAMP '2026-01-03 00:00:00+00'";
  const [dry] = await restClient(server).createQueryJob({ query, dryRun: true });
  const { statistics } = dry.metadata as { statistics: { totalBytesProcessed: string } };
  // One row of that day: event_id of one letter, and its time.
  assert.equal(statistics.totalBytesProcessed, String(2 + 1 + 8));
});

test('MERGE counts what it did, and its new rows lie in the window of its commit', async () => {
  const now = async (): Promise<number> =>
    Number((await server.query('SELECT UNIX_MICROS(CURRENT_TIMESTAMP()) AS now'))[0]!['now']);
  const from = await now();
  const [job] = await restClient(server).createQueryJob({
    query: `MERGE ds.events t USING (SELECT 'a' AS id UNION ALL SELECT 'c') s ON t.event_id = s.id
            WHEN MATCHED THEN UPDATE SET payload = 'seen' WHEN NOT MATCHED THEN INSERT (event_id) VALUES (s.id)`,
  });
  await job.getQueryResults();
  const metadata = (await job.getMetadata())[0] as { statistics: { query: { dmlStats: object } } };
  assert.deepEqual(metadata.statistics.query.dmlStats, {
    insertedRowCount: '1',
    updatedRowCount: '1',
    deletedRowCount: '0',
  });
  const window = `SELECT event_id FROM APPENDS(TABLE ds.events, TIMESTAMP_MICROS(${from}), TIMESTAMP_MICROS(${await now()}))`;
  assert.deepEqual(await server.query(window), [{ event_id: 'c' }]);
});
