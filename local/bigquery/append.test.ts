import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Faults, type Fault } from '../shared/faults.ts';
import { Meter } from '../shared/meter.ts';
import { createEvents, EVENTS, openWriter, restClient, type TestWriter } from './fixture.ts';
import { startBigQuery } from './server.ts';
import { compile } from './stand-in.ts';
import type { BigQueryServer } from './types.ts';

const DAY = 86_400_000_000;
const now = Date.now() * 1000;
const meter = new Meter();
let fault: Fault | undefined;
let server: BigQueryServer;
let events: TestWriter;

before(async () => {
  const faults = new Faults((call) => (call.method === 'AppendRows' ? fault : undefined));
  server = await startBigQuery({ compile, meter, faults });
  await createEvents(restClient(server));
  events = await openWriter(server, EVENTS);
});

after(async () => {
  events.close();
  await server.stop();
});

async function ids(prefix: string): Promise<unknown[]> {
  const rows = await server.query(
    `SELECT event_id FROM \`local.ds.events\` WHERE starts_with(event_id, @prefix) ORDER BY _row /* event_id STRING */`,
    { prefix },
  );
  return rows.map((row) => row['event_id']);
}

test('an appended row is read back with its microseconds, nulls and text intact', async () => {
  const row = { event_id: 'read-é✓', event_time: now + 123, sequence: 9007199254740991, payload: '{"a": 1.10}' };
  const answer = await events.writer.appendRows([row, { event_id: 'read-null' }]).getResult();
  assert.equal(answer.error ?? null, null);
  const rows = await server.query(
    `SELECT event_id, event_time, sequence, payload FROM \`local.ds.events\` WHERE starts_with(event_id, 'read-') ORDER BY _row
     /* event_id STRING, event_time TIMESTAMP, sequence INTEGER, payload STRING */`,
  );
  assert.deepEqual(rows, [row, { event_id: 'read-null', event_time: null, sequence: null, payload: null }]);
});

test('a text that begins with a byte order mark keeps it', async () => {
  const row = { event_id: 'mark', payload: '\ufefftext' };
  await events.writer.appendRows([row]).getResult();
  const rows = await server.query(
    `SELECT event_id, payload, LENGTH(payload) AS n FROM \`local.ds.events\` WHERE event_id = 'mark' /* event_id STRING, payload STRING, n INTEGER */`,
  );
  assert.deepEqual(rows, [{ event_id: 'mark', payload: '\ufefftext', n: 5 }]);
});

test('rows outside the streaming range are named and nothing of their request is stored', async () => {
  const row = (id: string, event_time: number) => ({ event_id: `range-${id}`, event_time });
  const answer = await events.writer
    .appendRows([
      row('ok', now),
      row('old', now - 3652 * DAY),
      row('edge', now - 3650 * DAY),
      row('new', now + 368 * DAY),
    ])
    .getResult();
  assert.equal(answer.error?.code, 3);
  assert.deepEqual(
    answer.rowErrors?.map(({ index, code }) => [Number(index), code]),
    [
      [1, 'FIELDS_ERROR'],
      [3, 'FIELDS_ERROR'],
    ],
  );
  assert.match(answer.rowErrors?.[0]?.message ?? '', /outside the allowed bounds/);
  assert.deepEqual(await ids('range-'), []);
});

test('a writer schema with a field that the table lacks is a schema mismatch', async () => {
  const writer = await openWriter(server, [...EVENTS, { name: 'extra', type: 'STRING' }]);
  const answer = await writer.writer.appendRows([{ event_id: 'extra', extra: 'x' }]).getResult();
  assert.equal(answer.error?.code, 3);
  assert.match(
    answer.error?.message ?? '',
    /^Input schema has more fields than BigQuery schema, extra fields: 'extra' /,
  );
  writer.close();
});

test('a missing required column is an error of its row', async () => {
  const optional = EVENTS.map((field) => ({ ...field, mode: 'NULLABLE' as const }));
  const writer = await openWriter(server, optional);
  const answer = await writer.writer.appendRows([{ event_id: 'req-1' }, { payload: 'x' }]).getResult();
  assert.deepEqual(
    answer.rowErrors?.map(({ index }) => Number(index)),
    [1],
  );
  assert.match(answer.rowErrors?.[0]?.message ?? '', /Missing required field: event_id/);
  assert.deepEqual(await ids('req-'), []);
  writer.close();
});

test('a table that is not there ends the connection with NOT_FOUND', async () => {
  const writer = await openWriter(server, EVENTS, 'nowhere');
  await assert.rejects(writer.writer.appendRows([{ event_id: 'x' }]).getResult(), { code: 5 });
  writer.close();
});

test('a request above 20 MB is refused, and so is its like in rows', async () => {
  const payload = 'x'.repeat(9 * 1024 * 1024);
  const rows = [0, 1, 2].map((n) => ({ event_id: `large-${n}`, payload }));
  const answer = await events.writer.appendRows(rows).getResult();
  assert.match(answer.error?.message ?? '', /too large/);
  const single = await events.writer
    .appendRows([{ event_id: 'large-row', payload: payload + payload.slice(0, 2 ** 21) }])
    .getResult();
  assert.equal(single.rowErrors?.length, 1);
  assert.deepEqual(await ids('large-'), []);
});

test('a lost answer leaves the rows, a refusal leaves none, and the connection opens again', async () => {
  fault = { kind: 'lose_answer' };
  await assert.rejects(events.writer.appendRows([{ event_id: 'fault-lost' }]).getResult(), { code: 14 });
  fault = { kind: 'refuse' };
  await assert.rejects(events.writer.appendRows([{ event_id: 'fault-refused' }]).getResult(), { code: 14 });
  fault = undefined;
  await events.writer.appendRows([{ event_id: 'fault-after' }]).getResult();
  assert.deepEqual(await ids('fault-'), ['fault-lost', 'fault-after']);
});

test('accepted requests are metered', async () => {
  const before = meter.snapshot();
  await events.writer.appendRows([{ event_id: 'meter-1' }, { event_id: 'meter-2' }]).getResult();
  assert.equal(meter.get('bigquery.append_requests'), (before['bigquery.append_requests'] ?? 0) + 1);
  assert.equal(meter.get('bigquery.append_rows'), (before['bigquery.append_rows'] ?? 0) + 2);
  assert.ok(meter.get('bigquery.append_bytes') > (before['bigquery.append_bytes'] ?? 0) + 20);
});

test('windows over commit times are exact while appends go on', async () => {
  const total = 400;
  const sent = (async () => {
    // One after the other, so that many commits fall between the queries.
    for (let n = 0; n < total; n += 2) {
      await events.writer.appendRows([{ event_id: `window-${n}` }, { event_id: `window-${n + 1}` }]).getResult();
    }
  })();
  const seen: string[] = [];
  let from = 0;
  const read = async (to: number): Promise<void> => {
    const rows = await server.query(
      `SELECT event_id, epoch_us(_CHANGE_TIMESTAMP) AS c FROM APPENDS(TABLE \`local.ds.events\`, ${from}, ${to})
       WHERE starts_with(event_id, 'window-') /* event_id STRING, c INTEGER */`,
    );
    for (const row of rows) seen.push(String(row['event_id']));
    from = to;
  };
  let open = true;
  const closed = sent.then(() => {
    open = false;
  });
  while (open) {
    const [clock] = await server.query(
      'SELECT epoch_us(CURRENT_TIMESTAMP()) AS now, (SELECT epoch_us(max(_commit_time)) FROM `local.ds.events`) AS latest /* now INTEGER, latest INTEGER */',
    );
    assert.ok(Number(clock!['latest']) <= Number(clock!['now']), 'a query sees no commit after its own time');
    await read(Number(clock!['now']));
  }
  await closed;
  const [clock] = await server.query('SELECT epoch_us(CURRENT_TIMESTAMP()) AS now /* now INTEGER */');
  await read(Number(clock!['now']));
  assert.equal(seen.length, total);
  assert.equal(new Set(seen).size, total);
});

test('rows of a request share one commit time, and later requests have later ones', async () => {
  for (const n of [1, 2, 3])
    await events.writer.appendRows([{ event_id: `commit-${n}` }, { event_id: `commit-${n}` }]).getResult();
  const rows = await server.query(
    `SELECT event_id, count(DISTINCT _commit_time) AS times FROM \`local.ds.events\` WHERE starts_with(event_id, 'commit-')
     GROUP BY event_id ORDER BY min(_commit_time) /* event_id STRING, times INTEGER */`,
  );
  assert.deepEqual(
    rows,
    [1, 2, 3].map((n) => ({ event_id: `commit-${n}`, times: 1 })),
  );
});

test('acknowledged rows, tables and jobs survive a restart', async () => {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'bigquery-'));
  const first = await startBigQuery({ compile, stateDir });
  await createEvents(restClient(first));
  const writer = await openWriter(first, EVENTS);
  await writer.writer.appendRows([{ event_id: 'kept', event_time: now }]).getResult();
  const sql = 'SELECT event_id FROM `local.ds.events` /* event_id STRING */';
  const [job] = await restClient(first).createQueryJob({ query: sql, jobId: 'kept-job', location: 'US' });
  await job.getQueryResults();
  writer.close();
  await first.stop();

  const second = await startBigQuery({ compile, stateDir });
  await second.insertRows('ds.events', [{ event_id: 'later', event_time: '2026-01-02 03:04:05.678901' }]);
  assert.deepEqual(
    await second.query('SELECT event_id FROM `local.ds.events` ORDER BY _commit_time, _row /* event_id STRING */'),
    [{ event_id: 'kept' }, { event_id: 'later' }],
  );
  const [rows] = await restClient(second).job('kept-job', { location: 'US' }).getQueryResults();
  assert.deepEqual(rows, [{ event_id: 'kept' }]);
  await second.stop();
  rmSync(stateDir, { recursive: true });
});
