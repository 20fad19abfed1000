import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { GUARANTEES, MUTATIONS } from './list.ts';
import { page } from './page.ts';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

test('the proofs of docs/guarantees.md are those of the list (`node test/mutations/page.ts` writes them)', () => {
  const { found, wanted } = page();
  assert.equal(found, wanted);
  assert.ok(MUTATIONS.length >= 15);
});

test('every guarantee has a row, and a guard that its proofs take away', () => {
  const rows = [...read('docs/guarantees.md').matchAll(/^\| \*\*(.+?)\*\* \|/gm)].map(([, name]) => name);
  assert.deepEqual(rows, [...GUARANTEES]);
  assert.deepEqual(new Set(MUTATIONS.map(({ guarantee }) => guarantee)), new Set(GUARANTEES));
});

test('every guard is in the code, once', () => {
  for (const { name, file, search } of MUTATIONS)
    assert.equal(read(file).split(search).length, 2, `${name} in ${file}`);
});
