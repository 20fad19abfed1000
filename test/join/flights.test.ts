import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { joinsOf } from '../../local/joins.ts';
import { expected, FLIGHTS, PLANES, replay } from './flights.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

const KEYS = [...new Set(FLIGHTS.map(({ unique_key }) => unique_key))];
const CHOSEN = new Set(KEYS.filter((_, i) => i % 16 === 0));
const SLICE = FLIGHTS.filter(({ unique_key }) => CHOSEN.has(unique_key));

test('the example has two joins, each with a topic of its own', () => {
  const joins = joinsOf(path.resolve(import.meta.dirname, '../../examples'));
  assert.deepEqual(
    joins.map(({ name, topic }) => [name, topic]),
    [
      ['airlines', 'airlines'],
      ['planes', 'planes'],
    ],
  );
});

test('flights with airlines and with planes, shuffled and repeated: each once, as computed from the files', async () => {
  const outcome = await replay(SLICE, PLANES, 1, 0);
  assert.deepEqual(outcome.results, expected(SLICE, PLANES));
  assert.deepEqual([outcome.repeats, outcome.conflicts], [0, 0]);
});

test('the same under faults: only crashes and lost answers repeat a message, under one id with one content', async () => {
  const outcome = await replay(SLICE, PLANES, 7, 0.02);
  assert.deepEqual(outcome.results, expected(SLICE, PLANES));
  assert.equal(outcome.conflicts, 0);
  assert.ok(outcome.causes > 0 && outcome.refusals > 0, JSON.stringify({ ...outcome, results: undefined }));
  // A page has 50 rows.
  assert.ok(outcome.repeats <= outcome.causes * 50);
});
