import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { BigQuery } from '@google-cloud/bigquery';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { compile } from '../../local/bigquery/sql/index.ts';
import { startBigQuery } from '../../local/bigquery/server.ts';
import type { BigQueryServer } from '../../local/bigquery/types.ts';
import { Faults, type Fault } from '../../local/shared/faults.ts';
import { loadConfig } from '../config.ts';
import type { EventRow, SummaryRow } from '../core/event.ts';
import { AmbiguousError, TransientError } from '../core/errors.ts';
import type { LogEntry } from '../log.ts';
import { createClock } from './clock.ts';
import { encodeRow, type Column } from './proto-rows.ts';
import { createEventsTable, createSummariesTable, createTable } from './storage-write.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

const PROJECT = 'local-project';
const clock = createClock();
const now = clock.now();
const columns = (table: string) =>
  JSON.parse(
    readFileSync(path.resolve(import.meta.dirname, `../../terraform/schemas/${table}.json`), 'utf8'),
  ) as Column[];

let server: BigQueryServer;
/** Faults of the next calls of AppendRows, one each. */
let faults: (Fault | undefined)[] = [];
let appends = 0;
const lines: LogEntry[] = [];

before(async () => {
  const hook = new Faults(({ method }) => {
    if (method !== 'AppendRows') return undefined;
    appends++;
    return faults.shift();
  });
  server = await startBigQuery({ compile, faults: hook, project: PROJECT });
  const client = new BigQuery({ projectId: PROJECT, apiEndpoint: `http://${server.address}` });
  await client.createDataset('codaflow');
  for (const [table, field] of [
    ['events', 'event_time'],
    ['summaries', 'written_at'],
  ] as const) {
    await client
      .dataset('codaflow')
      .createTable(table, { schema: { fields: columns(table) as never }, timePartitioning: { type: 'DAY', field } });
  }
});
after(() => server.stop());
beforeEach(() => {
  faults = [];
  appends = 0;
  lines.length = 0;
});

function context(env: Record<string, string> = {}) {
  const config = loadConfig({
    PROJECT_ID: PROJECT,
    BIGQUERY_STORAGE_EMULATOR_HOST: server.grpcAddress,
    PORT_DEADLINE: '2s',
    ...env,
  });
  return { config, clock, log: (line: LogEntry) => void lines.push(line) };
}

function row(event_id: string, changes: Partial<EventRow> = {}): EventRow {
  return { event_id, unique_key: 'k', event_status: 'started', event_time: now, join_key: null, sequence: null, payload: null, extra: null, attributes: null, message_id: null, publish_time: null, ingest_time: now, ...changes }; // prettier-ignore
}

async function stored(prefix: string): Promise<Record<string, unknown>[]> {
  const sql = `SELECT * FROM \`${PROJECT}.codaflow.events\` WHERE STARTS_WITH(event_id, @prefix) ORDER BY event_id`;
  return server.query(sql, { prefix });
}

describe('appending events', () => {
  test('every column arrives as it was', async () => {
    const table = createEventsTable(context());
    const full = row('full-é✓', { event_time: now - 1, join_key: '', sequence: 2 ** 53 - 1, payload: '{"n":1.10,"t":"😀"}', extra: '{}', attributes: '{"a":"b"}', message_id: 'm', publish_time: now - 86_400e6 }); // prettier-ignore
    assert.deepEqual(await table.append([full, row('full-null')]), [{ ok: true }, { ok: true }]);
    assert.deepEqual(
      await stored('full-'),
      [row('full-null'), full].sort((a, b) => (a.event_id < b.event_id ? -1 : 1)),
    );
  });

  test('refused rows are named, and the others are stored by a second request', async () => {
    const table = createEventsTable(context());
    const old = { event_time: now - 12 * 365 * 86_400e6 };
    const rows = [row('mix-1'), row('mix-2', old), row('mix-3'), row('mix-4', old)];
    const results = await table.append(rows);
    assert.deepEqual(
      results.map(({ ok }) => ok),
      [true, false, true, false],
    );
    assert.ok(!results[1]!.ok && results[1]!.reason !== '');
    assert.deepEqual(
      (await stored('mix-')).map(({ event_id }) => event_id),
      ['mix-1', 'mix-3'],
    );
    assert.equal(appends, 2);
  });

  test('a broken connection is opened once more; a repeat of the rows is allowed', async () => {
    const table = createEventsTable(context());
    faults = [{ kind: 'lose_answer' }];
    assert.deepEqual(await table.append([row('lost-1')]), [{ ok: true }]);
    assert.equal((await stored('lost-')).length, 2);
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['append.reconnect'],
    );
    faults = [{ kind: 'refuse' }, { kind: 'refuse' }];
    await assert.rejects(table.append([row('refused-1')]), AmbiguousError);
    assert.deepEqual(await table.append([row('refused-2')]), [{ ok: true }]);
  });

  test('no answer within the deadline is in doubt, and does not shift the answers after it', async () => {
    const table = createEventsTable(context({ PORT_DEADLINE: '300ms' }));
    faults = [{ kind: 'delay', ms: 700 }];
    await assert.rejects(table.append([row('late-1')]), AmbiguousError);
    const results = await table.append([row('late-2', { event_time: 0 })]);
    assert.equal(results[0]!.ok, false);
  });

  test('concurrent appends have their own answers', async () => {
    const table = createEventsTable(context());
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) => table.append([row(`many-${i}`, i % 3 === 0 ? { event_time: 0 } : {})])),
    );
    assert.deepEqual(
      results.map(([result]) => result!.ok),
      Array.from({ length: 20 }, (_, i) => i % 3 !== 0),
    );
  });

  test('a column that the table has not yet is a passing failure', async () => {
    const extra = [...columns('events'), { name: 'new_col', type: 'STRING', mode: 'NULLABLE' }];
    const table = createTable<EventRow & { new_col: string }>(context(), 'events', extra);
    await assert.rejects(
      table.append([{ ...row('new-1'), new_col: 'x' }]),
      (error) => error instanceof TransientError && error.code === 'schema_mismatch',
    );
  });

  test('so it is where it ends the connection', async () => {
    const message = "Input schema has more fields than BigQuery schema, extra fields: 'new_col'";
    faults = [{ kind: 'refuse', code: 3, message }];
    await assert.rejects(
      createEventsTable(context()).append([row('new-2')]),
      (error) => error instanceof TransientError && error.code === 'schema_mismatch',
    );
  });

  test('credentials that are not there yet are a passing failure, and are asked for again', async () => {
    const cloud = { ...context(), config: { ...context().config, bigqueryStorageHost: null } };
    const before = process.env['GOOGLE_APPLICATION_CREDENTIALS'];
    const table = createEventsTable(cloud);
    try {
      for (const file of ['/nowhere/first.json', '/nowhere/second.json']) {
        process.env['GOOGLE_APPLICATION_CREDENTIALS'] = file;
        await assert.rejects(
          table.append([row('auth-1')]),
          (error) => error instanceof TransientError && error.message.includes(file),
        );
      }
    } finally {
      if (before === undefined) delete process.env['GOOGLE_APPLICATION_CREDENTIALS'];
      else process.env['GOOGLE_APPLICATION_CREDENTIALS'] = before;
    }
  });

  test('a table that is not there is a passing failure', async () => {
    const table = createTable<EventRow>(context(), 'nowhere', columns('events'));
    await assert.rejects(table.append([row('x')]), TransientError);
  });

  test('a server that went away is in doubt, and never ends the process', async () => {
    const gone = await startBigQuery({ compile, project: PROJECT });
    const table = createEventsTable(context({ BIGQUERY_STORAGE_EMULATOR_HOST: gone.grpcAddress, PORT_DEADLINE: '1s' }));
    await table.append([row('gone-1')]).catch(() => undefined);
    await gone.stop();
    await assert.rejects(table.append([row('gone-2')]), AmbiguousError);
  });
});

test('an answer that says nothing is no success', async () => {
  const raw = (bytes: Buffer) => bytes;
  const silent = new Server();
  silent.addService(
    { appendRows: { path: '/google.cloud.bigquery.storage.v1.BigQueryWrite/AppendRows', requestStream: true, responseStream: true, requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw } }, // prettier-ignore
    {
      // An empty message: neither a result nor an error.
      appendRows: (call: ServerDuplexStream<Buffer, Buffer>) => call.on('data', () => call.write(Buffer.alloc(0))),
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    const started = (error: Error | null, bound: number) => (error === null ? resolve(bound) : reject(error));
    silent.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), started);
  });
  try {
    const table = createEventsTable(context({ BIGQUERY_STORAGE_EMULATOR_HOST: `127.0.0.1:${port}` }));
    await assert.rejects(table.append([row('silent-1')]), AmbiguousError);
  } finally {
    silent.forceShutdown();
  }
});

test('a summary with its steps arrives as it was', async () => {
  const summary: SummaryRow = {
    unique_key: 'k', generation: now, revision: 1, state: 'finished', complete: true, final_status: 'completed', total_steps: 2, start_time: now - 5, finish_time: now, last_event_time: now,
    duration_seconds: 0.000005, late_events: 0, steps: [{ event_id: 'a', event_status: 's', event_time: now - 5 }, { event_id: 'b', event_status: 'completed', event_time: now }], fields: null, written_at: now,
  }; // prettier-ignore
  const empty: SummaryRow = {
    ...summary,
    revision: 2,
    steps: [],
    complete: false,
    duration_seconds: null,
    finish_time: null,
  };
  assert.deepEqual(await createSummariesTable(context()).append([summary, empty]), [{ ok: true }, { ok: true }]);
  const rows = await server.query(`SELECT * FROM \`${PROJECT}.codaflow.summaries\` ORDER BY revision`);
  assert.deepEqual(rows, [summary, empty]);
});

test('rows are encoded as a protocol buffer library reads them', () => {
  const names = ['text', 'number', 'flag', 'real'] as const;
  const types = ['STRING', 'INTEGER', 'BOOLEAN', 'FLOAT'];
  const fields = names.map((name, i) => ({ name, type: types[i]!, mode: 'NULLABLE' }));
  const type = new protobuf.Type('row');
  ['string', 'int64', 'bool', 'double'].forEach((kind, i) => type.add(new protobuf.Field(names[i]!, i + 1, kind)));
  const value = fc.record({
    text: fc.string({ unit: 'grapheme' }),
    number: fc.maxSafeInteger(),
    flag: fc.boolean(),
    real: fc.double({ noNaN: true }),
  });
  fc.assert(
    fc.property(value, (row) => {
      assert.deepEqual(type.toObject(type.decode(encodeRow(fields, row)), { longs: Number, defaults: true }), {
        ...row,
      });
    }),
  );
});
