import type { BigQuery } from '@google-cloud/bigquery';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Faults, type Fault } from '../shared/faults.ts';
import { Meter } from '../shared/meter.ts';
import { createEvents, EVENTS, restClient } from './fixture.ts';
import { startBigQuery } from './server.ts';
import { compile } from './stand-in.ts';
import type { BigQueryServer, Micros } from './types.ts';

const COUNT = 'SELECT count(*) AS n FROM `local.ds.events` /* n INTEGER */';
const NUMBERS = 'SELECT i AS n FROM range(25) r(i) ORDER BY hash(i) /* n INTEGER */';
const meter = new Meter();
let fault: { method: string; fault: Fault } | undefined;
let time: Micros = Date.UTC(2026, 0, 2, 3, 4, 5) * 1000;
let server: BigQueryServer;
let client: BigQuery;

before(async () => {
  const faults = new Faults((call) => (call.method === fault?.method ? fault.fault : undefined));
  server = await startBigQuery({ compile, meter, faults, clock: () => time });
  client = restClient(server);
  await createEvents(client);
});

after(async () => {
  await server.stop();
});

/** Matches an error of the client by BigQuery's reason. */
function reason(wanted: string): (error: unknown) => boolean {
  return (error) => (error as { errors: { reason: string }[] }).errors[0]?.reason === wanted;
}

async function job(jobId: string, query = COUNT, more: object = {}) {
  const [created] = await client.createQueryJob({ query, jobId, location: 'US', ...more });
  return created;
}

test('both forms of the address reach the server', async () => {
  for (const prefix of ['', '/bigquery/v2']) {
    const answer = await fetch(`http://${server.address}${prefix}/projects/local/datasets/ds`);
    assert.equal(answer.status, 200);
    assert.equal(((await answer.json()) as { location: string }).location, 'US');
  }
});

test('datasets and tables are made once, described, listed, changed and deleted', async () => {
  const [dataset] = await client.createDataset('other', { location: 'europe-west1' });
  await assert.rejects(client.createDataset('other'), { code: 409 });
  await assert.rejects(dataset.createTable('t', { schema: { fields: [{ name: 'a', type: 'NOPE' }] } }), { code: 400 });
  const [table] = await dataset.createTable('t', { schema: 'a:string,b:integer' });
  await assert.rejects(dataset.createTable('t', { schema: 'a:string' }), { code: 409 });
  await server.insertRows('other.t', [{ a: 'before', b: 1 }]);
  await table.setMetadata({
    schema: {
      fields: [
        { name: 'a', type: 'STRING' },
        { name: 'b', type: 'INTEGER' },
        { name: 'c', type: 'BOOLEAN' },
      ],
    },
  });
  await server.insertRows('other.t', [{ a: 'after', c: true }]);
  const [rows] = await table.getRows();
  assert.deepEqual(rows, [
    { a: 'before', b: 1, c: null },
    { a: 'after', b: null, c: true },
  ]);
  await assert.rejects(table.setMetadata({ schema: { fields: [{ name: 'a', type: 'INTEGER' }] } }), { code: 400 });
  assert.deepEqual(
    (await dataset.getTables())[0].map((one) => one.id),
    ['t'],
  );
  await assert.rejects(dataset.delete(), { code: 400 });
  await table.delete();
  await dataset.delete();
  assert.deepEqual(
    (await client.getDatasets())[0].map((one) => one.id),
    ['ds'],
  );
  await assert.rejects(client.dataset('other').get(), { code: 404 });
});

test('insertAll names bad rows, stops the good ones, and takes them with skipInvalidRows', async () => {
  const table = client.dataset('ds').table('events');
  const bad = [
    { event_id: 'ok' },
    { event_id: 'bad', sequence: 'x' },
    { event_id: 'odd', zzz: 1 },
    { payload: 'no id' },
  ];
  const refused = await table.insert(bad, { createInsertId: false, partialRetries: 0 }).then(
    () => assert.fail('accepted'),
    (error: unknown) =>
      error as { errors: { row: { event_id?: string }; errors: { reason: string; message: string }[] }[] },
  );
  assert.deepEqual(
    refused.errors.map((one) => one.errors[0]!.reason),
    ['stopped', 'invalid', 'invalid', 'invalid'],
  );
  assert.match(refused.errors[2]!.errors[0]!.message, /no such field: zzz/);
  assert.deepEqual((await server.query(COUNT))[0], { n: 0 });
  await assert.rejects(table.insert(bad, { skipInvalidRows: true, partialRetries: 0, createInsertId: false }));
  assert.deepEqual((await server.query(COUNT))[0], { n: 1 });
});

test('an insertId counts once for a minute', async () => {
  const table = client.dataset('ds').table('events');
  const row = { insertId: 'same', json: { event_id: 'deduped' } };
  const sql = "SELECT count(*) AS n FROM `local.ds.events` WHERE event_id = 'deduped' /* n INTEGER */";
  await table.insert([row, row], { raw: true });
  await table.insert([row], { raw: true });
  assert.deepEqual(await server.query(sql), [{ n: 1 }]);
  time += 61_000_000;
  await table.insert([row], { raw: true });
  assert.deepEqual(await server.query(sql), [{ n: 2 }]);
});

test('timestamps keep microseconds in every output format', async () => {
  await server.insertRows('ds.events', [{ event_id: 'micros', event_time: '2026-01-02T03:04:05.678901Z' }]);
  const query = "SELECT event_time FROM `local.ds.events` WHERE event_id = 'micros' /* event_time TIMESTAMP */";
  const [rows] = (await client.query(query)) as [{ event_time: { value: string } }[]];
  assert.equal(rows[0]!.event_time.value, '2026-01-02T03:04:05.678901000Z');
  const done = await job('formats', query);
  await done.getQueryResults();
  const read = async (flag: string): Promise<unknown> => {
    const answer = await fetch(`http://${server.address}/projects/local/queries/formats?location=US${flag}`);
    return ((await answer.json()) as { rows: { f: { v: string }[] }[] }).rows[0]!.f[0]!.v;
  };
  assert.equal(await read(''), '1767323045.678901');
  assert.equal(await read('&formatOptions.useInt64Timestamp=true'), '1767323045678901');
});

test('a job id works once: 409 for the second, who attaches to the first', async () => {
  await job('once', NUMBERS);
  await assert.rejects(job('once', COUNT), reason('duplicate'));
  const [rows] = await client.job('once', { location: 'US' }).getQueryResults();
  assert.equal(rows.length, 25);
  await assert.rejects(client.job('once', { location: 'EU' }).getQueryResults(), { code: 404 });
});

test('pages of one job follow each other in one order without gaps', async () => {
  const created = await job('pages', NUMBERS);
  const whole = (await created.getQueryResults())[0].map((row: { n: number }) => row.n);
  const paged: number[] = [];
  let pageToken: string | undefined;
  do {
    const [rows, , response] = await created.getQueryResults({
      maxResults: 7,
      autoPaginate: false,
      ...(pageToken && { pageToken }),
    });
    paged.push(...rows.map((row: { n: number }) => row.n));
    pageToken = (response as { pageToken?: string }).pageToken;
  } while (pageToken);
  assert.deepEqual(paged, whole);
  const [tail] = await created.getQueryResults({ startIndex: '20', autoPaginate: false } as never);
  assert.deepEqual(
    tail.map((row: { n: number }) => row.n),
    whole.slice(20),
  );
  await assert.rejects(created.getQueryResults({ pageToken: 'bm9uZQ', autoPaginate: false }), { code: 400 });
});

test('an answer is cut at 10 MB', async () => {
  const created = await job('wide', "SELECT repeat('x', 3000000) AS s FROM range(5) /* s STRING */");
  const [rows, , response] = await created.getQueryResults({ autoPaginate: false });
  assert.equal(rows.length, 3);
  assert.ok((response as { pageToken?: string }).pageToken);
  assert.equal((await created.getQueryResults())[0].length, 5);
});

test('named parameters arrive with their types', async () => {
  const query = 'SELECT @s AS s, @n + 1 AS n, epoch_us(@t) AS t /* s STRING, n INTEGER, t INTEGER */';
  const params = { s: "o'k".replace("'", ''), n: 41, t: client.timestamp('2026-01-02T03:04:05.678901Z') };
  assert.deepEqual((await client.query({ query, params }))[0], [{ s: 'ok', n: 42, t: 1767323045678901 }]);
});

test('a statement that does not compile is refused at once and leaves a failed job', async () => {
  await assert.rejects(job('broken', 'NONSENSE'), { code: 400 });
  const metadata = (await client.job('broken', { location: 'US' }).getMetadata())[0] as {
    status: { state: string; errorResult: { reason: string } };
  };
  assert.equal(metadata.status.state, 'DONE');
  assert.equal(metadata.status.errorResult.reason, 'invalidQuery');
  await assert.rejects(client.query('SELECT * FROM `local.ds.nowhere`'), { code: 404 });
});

test('a failure at run time is the error of the job', async () => {
  const created = await job('fails', "SELECT CAST('x' AS BIGINT) AS n /* n INTEGER */");
  await assert.rejects(created.getQueryResults(), { code: 400, message: /Conversion Error/ });
});

test('bytes are counted by column, billed at no less than 10 MB a table, and bounded before the run', async () => {
  await client.dataset('ds').createTable('sized', { schema: { fields: [...EVENTS] as never } });
  await server.insertRows('ds.sized', [{ event_id: 'abc', event_time: 0, sequence: 1 }, { event_id: 'é' }]);
  const query = 'SELECT count(*) AS n FROM `local.ds.sized` /* n INTEGER */';
  const [dry] = await client.createQueryJob({ query, dryRun: true, location: 'US' });
  const statistics = (
    dry.metadata as { statistics: { totalBytesProcessed: string; query: { totalBytesBilled: string } } }
  ).statistics;
  assert.equal(statistics.totalBytesProcessed, String(2 + 3 + 8 + 8 + (2 + 2)));
  assert.equal(statistics.query.totalBytesBilled, String(10 * 1024 * 1024));
  const bounded = await job('bounded', query, { maximumBytesBilled: '10485759' });
  await assert.rejects(bounded.getQueryResults(), reason('bytesBilledLimitExceeded'));
  assert.deepEqual((await (await job('enough', query, { maximumBytesBilled: '10485760' })).getQueryResults())[0], [
    { n: 2 },
  ]);
});

test('a query lives in the location of its datasets', async () => {
  await client.createDataset('far', { location: 'europe-west1' });
  await client.dataset('far').createTable('t', { schema: 'a:string' });
  const query = 'SELECT count(*) AS n FROM `local.far.t` /* n INTEGER */';
  await assert.rejects(client.query({ query, location: 'US' }), { code: 404, message: /not found in location US/ });
  assert.deepEqual((await client.query({ query, location: 'europe-west1' }))[0], [{ n: 0 }]);
});

test('DML counts its rows, and its rows appear in windows after its commit', async () => {
  await client.dataset('ds').createTable('dml', { schema: 'a:string' });
  const created = await job(
    'dml',
    "INSERT INTO `local.ds.dml` (_commit_time, a) VALUES ($commit, 'x'), ($commit, 'y')",
  );
  const [, , response] = await created.getQueryResults({ autoPaginate: false });
  assert.equal((response as { numDmlAffectedRows: string }).numDmlAffectedRows, '2');
  const metadata = (await created.getMetadata())[0] as {
    statistics: { query: { dmlStats: { insertedRowCount: string } } };
  };
  assert.equal(metadata.statistics.query.dmlStats.insertedRowCount, '2');
  await server.insertRows('ds.dml', [{ a: 'z' }]);
  const rows = await server.query('SELECT a FROM APPENDS(TABLE `local.ds.dml`, 0, NULL) ORDER BY _row /* a STRING */');
  assert.deepEqual(rows, [{ a: 'x' }, { a: 'y' }, { a: 'z' }]);
});

test('a running job is cancelled, and another runs out of time', async () => {
  const slow =
    'SELECT count(*) AS n FROM range(100000) a(i), range(1000000) b(j) WHERE hash(i + j) = 1 /* n INTEGER */';
  const cancelled = await job('cancelled', slow);
  await cancelled.cancel();
  await assert.rejects(cancelled.getQueryResults(), reason('stopped'));
  const late = await job('late', slow, { jobTimeoutMs: 30 });
  await assert.rejects(late.getQueryResults(), reason('timeout'));
});

test('a result can be read for a day', async () => {
  const created = await job('aged', NUMBERS);
  await created.getQueryResults();
  time += 25 * 3_600_000_000;
  await assert.rejects(created.getQueryResults(), { code: 404 });
});

test('labels come back, and jobs are listed newest first', async () => {
  const created = await job('labelled', COUNT, { labels: { team: 'a' } });
  const metadata = (await created.getMetadata())[0] as { configuration: { labels: object } };
  assert.deepEqual(metadata.configuration.labels, { team: 'a' });
  const [jobs] = await client.getJobs({ maxResults: 1, autoPaginate: false });
  assert.equal(jobs[0]!.id, 'labelled');
});

test('load jobs are refused clearly', async () => {
  await assert.rejects(client.createJob({ configuration: { load: { sourceUris: ['gs://b/o'] } } }), {
    code: 501,
    message: /load jobs are not supported/,
  });
});

test('a lost answer of jobs.insert leaves the job, a refusal does not', async () => {
  fault = { method: 'jobs.insert', fault: { kind: 'lose_answer' } };
  await assert.rejects(job('lost', NUMBERS), { code: 503 });
  fault = { method: 'jobs.insert', fault: { kind: 'refuse' } };
  await assert.rejects(job('refused', NUMBERS), { code: 503 });
  fault = undefined;
  await assert.rejects(job('lost', NUMBERS), { code: 409 });
  assert.equal((await (await job('refused', NUMBERS)).getQueryResults())[0].length, 25);
});

test('the request id of jobs.query finds its first job', async () => {
  const ask = async (): Promise<string> => {
    const body = JSON.stringify({ query: COUNT, useLegacySql: false, requestId: 'r-1' });
    const answer = await fetch(`http://${server.address}/projects/local/queries`, { method: 'POST', body });
    return ((await answer.json()) as { jobReference: { jobId: string } }).jobReference.jobId;
  };
  const first = await ask();
  assert.equal(await ask(), first);
  time += 16 * 60_000_000;
  assert.notEqual(await ask(), first);
});
