import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import ids from './ids.json' with { type: 'json' };

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** Cases that are messages alone; their inputs and expectations are data. */
const MESSAGES: readonly string[] = ['message', 'messages'];

/** `FIN-14: ...` or `FIN-14 ...` as the name of a test that runs. */
const NAMED = /\b(?:test|it)\(\s*['"`]([A-Z]{2,4}-\d{2})(?![\w-])/g;

/** Ids that the names of tests begin with. */
function named(): ReadonlySet<string> {
  const files = globSync('{functions,local,test}/**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules/**'] });
  return new Set(files.flatMap((file) => [...read(file).matchAll(NAMED)].map(([, id]) => id!)));
}

/** Ids of the messages that the tests run: see functions/core/decode/decode.test.ts and test/cases/messages.test.ts. */
function messages(): ReadonlySet<string> {
  const lines = read('test/cases/messages.ndjson').trim().split('\n');
  return new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id));
}

/** A line for each area. */
function list(missing: readonly { readonly id: string; readonly area: string }[]): string {
  const areas = Map.groupBy(missing, ({ area }) => area);
  return [...areas].map(([area, cases]) => `${area}: ${cases.map(({ id }) => id).join(', ')}`).join('\n');
}

test('every case of steps, of a recipe or of a deployment is the beginning of the name of a test', () => {
  const have = named();
  const missing = ids.filter(({ id, kind }) => !MESSAGES.includes(kind) && !have.has(id));
  assert.equal(list(missing), '', 'no test is named after these cases');
});

test('every case of messages is in messages.ndjson, or has a test of its own', () => {
  const have = new Set([...messages(), ...named()]);
  const missing = ids.filter(({ id, kind }) => MESSAGES.includes(kind) && !have.has(id));
  assert.equal(list(missing), '', 'no test has these messages');
});

test('every id that a test is named after is a case', () => {
  const known = new Set(ids.map(({ id }) => id));
  assert.equal(known.size, ids.length, 'an id appears twice');
  const series = new Set(ids.map(({ id }) => id.slice(0, -3)));
  const unknown = [...named()].filter((id) => series.has(id.slice(0, -3)) && !known.has(id));
  assert.deepEqual(unknown, []);
});
