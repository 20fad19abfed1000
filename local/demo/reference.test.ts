import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toReference } from './reference.ts';

const rows = (...lines: object[]) =>
  toReference(
    lines.map((line, i) => ({ text: JSON.stringify(line), number: i + 1 })),
    'rows.ndjson',
    'now',
  );

test('the target attribute is its own member, the only other one, or all others', () => {
  assert.deepEqual(
    rows(
      { join_key: 'a', name: 'Ay' },
      { join_key: 'b', target_attribute: 'Bee', x: 1 },
      { join_key: 'c', x: 1, y: null },
      { join_key: 'd' },
    ).map(({ target_attribute }) => target_attribute),
    ['Ay', 'Bee', '{"x":1,"y":null}', null],
  );
});

test('of repeated keys the latest counts; a row without a key is named', () => {
  const [row] = rows(
    { join_key: 'a', target_attribute: 'new', updated_at: '2026-01-02T00:00:00Z' },
    { join_key: 'a', target_attribute: 'old', updated_at: '2026-01-01T00:00:00Z' },
  );
  assert.equal(row!.target_attribute, 'new');
  assert.throws(() => rows({ join_key: 'a' }, { name: 'x' }), /rows\.ndjson, line 2: "join_key"/);
});
