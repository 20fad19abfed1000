import fc from 'fast-check';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { toObject, type Cell } from './cells.ts';
import { openWriter, restClient, type TestWriter } from './fixture.ts';
import { jsonRow } from './json-rows.ts';
import { startBigQuery } from './server.ts';
import type { Field } from './sql/types.ts';
import { compile } from './stand-in.ts';
import { outsideStreamingRange, parseTimestamp } from './timestamps.ts';
import type { BigQueryServer } from './types.ts';
import { numeric, ValueError } from './values.ts';

const ALL: Field[] = [
  { name: 'id', type: 'STRING', mode: 'REQUIRED' },
  { name: 's', type: 'STRING' },
  { name: 'b', type: 'BYTES' },
  { name: 'i', type: 'INTEGER' },
  { name: 'f', type: 'FLOAT' },
  { name: 'n', type: 'NUMERIC' },
  { name: 'o', type: 'BOOLEAN' },
  { name: 't', type: 'TIMESTAMP' },
  { name: 'd', type: 'DATE' },
  { name: 'j', type: 'JSON' },
  { name: 'names', type: 'STRING', mode: 'REPEATED' },
  { name: 'counts', type: 'INTEGER', mode: 'REPEATED' },
  {
    name: 'steps',
    type: 'RECORD',
    mode: 'REPEATED',
    fields: [
      { name: 'name', type: 'STRING', mode: 'REQUIRED' },
      { name: 'at', type: 'TIMESTAMP' },
      { name: 'tags', type: 'STRING', mode: 'REPEATED' },
    ],
  },
];

let server: BigQueryServer;
let writer: TestWriter;
let n = 0;

before(async () => {
  server = await startBigQuery({ compile });
  const client = restClient(server);
  await client.createDataset('ds');
  await client.dataset('ds').createTable('all', { schema: { fields: structuredClone(ALL) as never } });
  writer = await openWriter(server, ALL, 'all');
});

after(async () => {
  writer.close();
  await server.stop();
});

// From 1684 to 2255, where microseconds are safe integers.
const micros = fc.maxSafeInteger();
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const nullable = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });
const PLAIN = { noNullPrototype: true };
const STEP = fc.record({ name: text, at: nullable(micros), tags: fc.array(text, { maxLength: 2 }) }, PLAIN);
const ROW = fc.record(
  {
    s: nullable(text),
    b: nullable(fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes))),
    i: nullable(fc.maxSafeInteger()),
    f: nullable(fc.double({ noNaN: true })),
    o: nullable(fc.boolean()),
    t: nullable(micros),
    j: nullable(fc.json()),
    names: fc.array(text, { maxLength: 4 }),
    counts: fc.array(fc.maxSafeInteger(), { maxLength: 4 }),
    steps: fc.array(STEP, { maxLength: 3 }),
  },
  PLAIN,
);

async function readBack(id: string): Promise<Record<string, unknown> | undefined> {
  const url = `http://${server.address}/projects/local/datasets/ds/tables/all/data?startIndex=${n - 1}&formatOptions.useInt64Timestamp=true`;
  const { rows } = (await (await fetch(url)).json()) as { rows: { f: { v: Cell }[] }[] };
  return rows
    .map((row) =>
      toObject(
        ALL,
        row.f.map(({ v }) => v),
      ),
    )
    .find((row) => row['id'] === id);
}

type Row = typeof ROW extends fc.Arbitrary<infer T> ? T : never;

const same = (row: Row, id: string): object => ({ id, ...row, n: null, d: null });

const iso = (time: number | null): string | null =>
  time === null
    ? null
    : new Date(Math.floor(time / 1000)).toISOString().slice(0, -1) +
      String(((time % 1000) + 1000) % 1000).padStart(3, '0');

test('rows of every shape come back as they were appended', async () => {
  await fc.assert(
    fc.asyncProperty(ROW, async (row) => {
      const id = `append-${n}`;
      const answer = await writer.writer.appendRows([{ id, ...row } as never]).getResult();
      assert.deepEqual(answer.rowErrors ?? [], []);
      n += 1;
      assert.deepEqual(await readBack(id), same(row, id));
    }),
    { numRuns: 40, interruptAfterTimeLimit: 3000 },
  );
});

test('rows of every shape come back as they were inserted', async () => {
  await fc.assert(
    fc.asyncProperty(ROW, async (row) => {
      const id = `insert-${n}`;
      const steps = row.steps.map((step) => ({ ...step, at: iso(step.at) }));
      await server.insertRows('ds.all', [{ id, ...row, b: row.b?.toString('base64') ?? null, t: iso(row.t), steps }]);
      n += 1;
      assert.deepEqual(await readBack(id), same(row, id));
    }),
    { numRuns: 40, interruptAfterTimeLimit: 3000 },
  );
});

test('timestamps are read in the forms that BigQuery takes, and nothing else', () => {
  const at = Date.UTC(2026, 0, 2, 3, 4, 5) * 1000;
  const forms: [string, number | undefined][] = [
    ['2026-01-02T03:04:05.678901Z', at + 678_901],
    ['2026-01-02 03:04:05.6', at + 600_000],
    ['2026-01-02 03:04:05 UTC', at],
    ['2026-01-02T05:04:05+02:00', at],
    ['2026-01-02T02:34:05-0030', at],
    ['2026-01-02', at - 11_045_000_000],
    ['2026-02-30', undefined],
    ['2026-01-02T25:00:00Z', undefined],
    ['yesterday', undefined],
    ['', undefined],
  ];
  for (const [source, micros] of forms) assert.equal(parseTimestamp(source), micros, source);
});

test('streamed rows reach from 3650 days back to 366 days ahead', () => {
  const day = 86_400_000_000;
  const now = Date.UTC(2026, 5, 1, 12) * 1000;
  const verdicts = [-3651, -3650, 0, 366, 367].map(
    (days) => outsideStreamingRange(now + days * day, now) === undefined,
  );
  assert.deepEqual(verdicts, [false, true, true, true, false]);
});

test('NUMERIC is exact', () => {
  assert.equal(numeric('-12.000000001', 'n').toString(), '-12.000000001');
  assert.equal(numeric('1.5e3', 'n').value, 1_500_000_000_000n);
  assert.equal(numeric('1200e-2', 'n').value, 12_000_000_000n);
  for (const bad of ['', '.', '1.0000000001', '1e30', 'x', '1,5'])
    assert.throws(() => numeric(bad, 'n'), ValueError, bad);
});

test('JSON values that do not fit are refused by the name of their field', () => {
  const bad: [unknown, string][] = [
    [{ id: 'x', i: 1.5 }, 'i'],
    [{ id: 'x', i: '9223372036854775808' }, 'i'],
    [{ id: 'x', o: 'yes' }, 'o'],
    [{ id: 'x', j: '{' }, 'j'],
    [{ id: 'x', names: 'one' }, 'names'],
    [{ id: 'x', names: [null] }, 'names'],
    [{ id: 'x', s: ['one'] }, 's'],
    [{ id: 'x', steps: [{ at: '2026-01-01' }] }, 'steps.name'],
    [{ id: 'x', steps: [{ name: 'a', other: 1 }] }, 'steps.other'],
    [{ id: null }, 'id'],
  ];
  for (const [row, field] of bad) {
    const check = (error: unknown): boolean => error instanceof ValueError && error.field === field;
    assert.throws(() => jsonRow(ALL, row as Record<string, unknown>, false), check, JSON.stringify(row));
  }
});
