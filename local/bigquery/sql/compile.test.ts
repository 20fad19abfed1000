import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compile, SqlError, type CompileContext, type Compiled, type Field, type Parameter } from './index.ts';

const at = (text: string): number => Date.parse(text) * 1000;
const NOW = at('2026-11-29T12:00:00Z');
const WEEK = 7 * 86_400_000_000;
const FIELDS: Field[] = [
  { name: 'id', type: 'STRING', mode: 'REQUIRED' },
  { name: 'event_time', type: 'TIMESTAMP' },
  { name: 'note', type: 'STRING' },
  { name: 'day', type: 'DATE' },
];

function context(parameters: readonly Parameter[] = [], created = NOW - 86_400_000_000): CompileContext {
  const columns = { e: 'event_time', d: 'day', plain: undefined } as const;
  const views: Record<string, string> = { seen: 'SELECT id, note FROM ds.e', loop: 'SELECT * FROM ds.loop' };
  return {
    project: 'p',
    parameters,
    now: NOW,
    timeTravel: WEEK,
    resolve: (ref) => {
      const query = views[ref.table];
      if (query !== undefined) return { kind: 'view', ref, query };
      if (!(ref.table in columns)) return undefined;
      const field = columns[ref.table as keyof typeof columns];
      return {
        kind: 'table',
        ref,
        duckdb: `data.${ref.table}`,
        fields: FIELDS,
        created,
        mutated: NOW - 3_600_000_000,
        ...(field && { partitioning: { field, type: 'DAY' } }),
      };
    },
  };
}

const scans = (sql: string, parameters?: readonly Parameter[]): Compiled['scans'] =>
  compile(sql, context(parameters)).scans;
const range = (from: string, to: string): { from: number; to: number } => ({ from: at(from), to: at(to) });

describe('columns that are read', () => {
  const columns = (sql: string): string[][] => scans(sql).map((scan) => [...scan.columns].sort());

  it('counts what the result and the conditions need', () => {
    assert.deepEqual(columns('SELECT id FROM ds.plain WHERE note IS NULL'), [['id', 'note']]);
    assert.deepEqual(columns('SELECT COUNT(*) FROM ds.plain'), [[]]);
    assert.deepEqual(columns('SELECT * EXCEPT (note) FROM ds.plain'), [['day', 'event_time', 'id']]);
  });

  it('leaves out what a subquery, view or WITH passes on for nothing', () => {
    assert.deepEqual(columns('SELECT id FROM (SELECT * FROM ds.plain)'), [['id']]);
    assert.deepEqual(columns('WITH a AS (SELECT * FROM ds.plain) SELECT note FROM a'), [['note']]);
    assert.deepEqual(columns('SELECT id FROM ds.seen'), [['id']]);
  });

  it('counts whole rows for UPDATE and DELETE, and only the condition of MERGE that inserts', () => {
    assert.deepEqual(columns('DELETE FROM ds.plain WHERE id = "x"'), [['day', 'event_time', 'id', 'note']]);
    const merge =
      'MERGE ds.plain AS t USING (SELECT "x" AS id) AS s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (id)';
    assert.deepEqual(columns(merge), [['id']]);
  });
});

describe('partitions that constant predicates leave', () => {
  const left = (where: string, parameters?: readonly Parameter[]): unknown => {
    const [scan] = scans(`SELECT id FROM ds.e WHERE ${where}`, parameters);
    return scan?.partitions && [scan.partitions, scan.nullPartition];
  };
  const first = range('2026-11-28T00:00:00Z', '2026-11-29T00:00:00Z');

  it('intersects AND, unites OR and keeps NULL', () => {
    const day = `event_time >= TIMESTAMP '2026-11-28' AND event_time < TIMESTAMP '2026-11-29'`;
    assert.deepEqual(left(day), [[first], false]);
    assert.deepEqual(left(`(${day}) OR event_time IS NULL`), [[first], true]);
    assert.deepEqual(left(`note = 'x' AND ${day}`), [[first], false]);
    assert.equal(left(`note = 'x' OR ${day}`), undefined);
    assert.deepEqual(left('FALSE'), [[], false]);
  });

  it('reads parameters and the clock, and nothing that depends on rows', () => {
    const from: Parameter = { name: 'from', type: 'TIMESTAMP', value: '2026-11-28 00:00:00+00' };
    assert.deepEqual(left('event_time BETWEEN @from AND CURRENT_TIMESTAMP()', [from]), [
      [{ from: at('2026-11-28T00:00:00Z'), to: NOW + 1 }],
      false,
    ]);
    assert.equal(left('event_time >= (SELECT MAX(event_time) FROM ds.plain)'), undefined);
    assert.equal(left('DATE(event_time) = DATE "2026-11-28"'), undefined);
  });

  it('prunes the target of MERGE by ON, but not when unmatched target rows matter', () => {
    const merge = (more: string): Compiled['scans'] =>
      scans(
        `MERGE ds.e AS t USING (SELECT "x" AS id) AS s ON t.id = s.id AND t.event_time >= TIMESTAMP '2026-11-28' ${more}`,
      );
    assert.equal(
      merge('WHEN NOT MATCHED THEN INSERT (id) VALUES (id)')[0]?.partitions?.[0]?.from,
      at('2026-11-28T00:00:00Z'),
    );
    assert.equal(merge('WHEN NOT MATCHED BY SOURCE THEN DELETE')[0]?.partitions, undefined);
  });

  it('prunes DATE partitions by whole days, and no side that an outer join keeps', () => {
    assert.deepEqual(scans("SELECT id FROM ds.d WHERE day = '2026-11-28'")[0]?.partitions, [first]);
    const join = scans(
      `SELECT a.id FROM ds.e AS a LEFT JOIN ds.e AS b ON a.event_time > TIMESTAMP '2026-11-28' AND b.event_time > TIMESTAMP '2026-11-28'`,
    );
    assert.deepEqual(
      join.map((scan) => scan.partitions !== undefined),
      [false, true],
    );
  });
});

describe('APPENDS and time travel', () => {
  const refused = (sql: string, pattern: RegExp, created?: number): void => {
    assert.throws(
      () => compile(sql, context([], created)),
      (error) => error instanceof SqlError && pattern.test(error.message),
    );
  };

  it('reads a half-open window of commit times; NULL ends now', () => {
    const [scan] = scans("SELECT id FROM APPENDS(TABLE ds.e, TIMESTAMP '2026-11-29 10:00:00', NULL)");
    assert.deepEqual(scan?.appends, { from: at('2026-11-29T10:00:00Z'), to: NOW });
    const [all] = scans('SELECT id FROM APPENDS(TABLE ds.e)');
    assert.equal(all?.appends?.from, NOW - 86_400_000_000);
  });

  it('refuses a future end, a start before time travel, views and mixed times', () => {
    refused("SELECT id FROM APPENDS(TABLE ds.e, NULL, TIMESTAMP '2026-11-29 12:00:00.000001')", /future/);
    refused('SELECT id FROM APPENDS(TABLE ds.e, TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 169 HOUR))', /time travel/);
    refused('SELECT id FROM APPENDS(TABLE ds.e)', /time travel/, NOW - WEEK - 1);
    refused('SELECT id FROM APPENDS(TABLE ds.seen)', /not supported on the view/);
    const minute = 'FOR SYSTEM_TIME AS OF TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 MINUTE)';
    refused(`SELECT a.id FROM APPENDS(TABLE ds.e) AS a JOIN ds.e ${minute} AS b ON a.id = b.id`, /two different times/);
    refused(
      'SELECT id FROM ds.e FOR SYSTEM_TIME AS OF TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 2 HOUR)',
      /last UPDATE/,
    );
  });
});

describe('names and values', () => {
  it('names anonymous columns and infers their types', () => {
    const { fields } = compile('SELECT 1, "a" AS x, 1.5, ARRAY_AGG(id), STRUCT(1 AS a) FROM ds.e', context());
    assert.deepEqual(
      fields.map((field) => `${field.name} ${field.type} ${field.mode ?? ''}`),
      ['f0_ INTEGER NULLABLE', 'x STRING NULLABLE', 'f1_ FLOAT NULLABLE', 'f2_ STRING REPEATED', 'f3_ RECORD NULLABLE'],
    );
  });

  it('keeps the text of parameters and literals inside their quotes', () => {
    const value = `'); DROP TABLE data.e; --`;
    const [sql] = compile('SELECT @v', context([{ name: 'v', type: 'STRING', value }])).statements;
    assert.equal(sql, `SELECT '''); DROP TABLE data.e; --' AS c0`);
    const [other] = compile('SELECT "a\\"\'" AS `x"y`', context()).statements;
    assert.equal(other, `SELECT 'a"''' AS c0`);
  });

  it('says where and why, and that a table is not found', () => {
    assert.throws(() => compile('SELECT id\nFROM ds.e WHERE nope', context()), {
      message: 'Unrecognized name: nope at [2:17]',
    });
    assert.throws(() => compile('SELECT id FROM ds.none', context()), { reason: 'notFound' });
    assert.throws(() => compile('SELECT * FROM ds.loop', context()), /refers to itself/);
  });
});
