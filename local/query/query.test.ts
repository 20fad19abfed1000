import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReadOnly, parseOptions, UsageError } from './options.ts';
import { render, renderJson } from './table.ts';

test('only queries are taken', () => {
  for (const sql of [
    'SELECT 1',
    ' with x AS (SELECT 1) SELECT * FROM x',
    '-- why\n/* a; b */ (SELECT 1)',
    '#c\nselect 1',
  ])
    assert.ok(isReadOnly(sql), sql);
  for (const sql of [
    'DELETE FROM events WHERE true',
    '-- SELECT\nUPDATE t SET a = 1',
    'selection',
    'MERGE t USING s',
    '',
  ]) {
    assert.ok(!isReadOnly(sql), sql);
  }
  assert.deepEqual(parseOptions(['--json', 'SELECT 1']), { sql: 'SELECT 1', json: true });
  assert.equal(parseOptions(['-h']), 'help');
  for (const args of [[], ['SELECT', '1'], ['--csv', 'SELECT 1'], ['DROP TABLE events']])
    assert.throws(() => parseOptions(args), UsageError, args.join(' '));
});

const rows = [
  { id: 'a', payload: 'x'.repeat(100), none: null },
  { id: 'b\nc', payload: '', none: { n: 1 } },
];

test('nothing is cut: a table where it fits, else lists', () => {
  const table = render(rows, null).split('\n');
  assert.equal(table.length, 4);
  assert.equal(table[2], `a     ${'x'.repeat(100)}  NULL`);
  assert.match(table[3]!, /^b\\nc .*\{"n":1\}$/);
  const list = render(rows, 40).split('\n');
  assert.ok(list.every((line) => line.length <= 40));
  assert.equal(list.join('').replaceAll(/[^x]/g, '').length, 100);
  assert.equal(list.at(-1), '2 rows');
  assert.equal(render([], 40), 'no rows');
});

test('as JSON: an array with a row a line', () => {
  assert.deepEqual(JSON.parse(renderJson(rows)), rows);
  assert.equal(renderJson(rows).split('\n').length, 4);
  assert.equal(renderJson([]), '[]');
});
