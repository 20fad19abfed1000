import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBigQuery } from '../bigquery/server.ts';
import { connect } from '../clients.ts';
import { DATASET, LOCATION, PROJECT } from '../resources.ts';
import { select } from './observe.ts';
import { parseOptions, type Options } from './options.ts';
import { loadTables, readTables, toTable } from './tables.ts';

const lines = (...rows: object[]) => rows.map((row, i) => ({ text: JSON.stringify(row), number: i + 1 }));

test('each column has the narrowest type that holds its values', () => {
  const { columns, rows } = toTable(
    'crm',
    'crm.ndjson',
    lines(
      { id: 'a', n: 1, x: 1.5, ok: true, tags: ['t'], mixed: 1 },
      { id: 'b', n: null, x: 2, mixed: 'two', late: null },
    ),
  );
  const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]));
  assert.deepEqual(types, { id: 'STRING', n: 'INT64', x: 'FLOAT64', ok: 'BOOL', tags: 'STRING', mixed: 'STRING', late: 'STRING' }); // prettier-ignore
  assert.deepEqual(rows[0], { id: 'a', n: 1, x: 1.5, ok: true, tags: '["t"]', mixed: '1', late: null });
});

test('mistakes name the file and the line', async () => {
  assert.throws(() => toTable('t', 'f', [{ text: '[1]', number: 3 }]), /^Error: f, line 3: no JSON object/);
  assert.throws(() => toTable('t', 'f', lines({ 'a b': 1 })), /f, line 1: "a b" cannot be the name of a column/);
  await assert.rejects(readTables({ tables: { joined: 'f' } }), /joined is a table of Codaflow itself/);
  await assert.rejects(readTables(parseOptions(['--table', 't=/nowhere']) as Options), /there is no such file/);
});

test('a table is there for queries, and replaced by the next run', async (t) => {
  const server = await startBigQuery({ project: PROJECT, location: LOCATION });
  t.after(() => server.stop());
  const { bigquery } = connect({
    BIGQUERY_EMULATOR_HOST: `http://${server.address}`,
    BIGQUERY_STORAGE_EMULATOR_HOST: server.grpcAddress,
    PUBSUB_EMULATOR_HOST: '127.0.0.1:1',
    FIRESTORE_EMULATOR_HOST: '127.0.0.1:1',
  });
  await bigquery.dataset(DATASET).create({ location: LOCATION });
  for (const tier of ['gold', 'silver']) {
    await loadTables(bigquery, [toTable('crm', 'f', lines({ join_key: 'a', tier, seats: 3 }))]);
    assert.deepEqual(await select(bigquery, 'SELECT * FROM crm'), [{ join_key: 'a', tier, seats: 3 }]);
  }
});
