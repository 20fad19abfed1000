import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { PERMANENT_CODES, TRANSIENT_CODES } from './errors.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/errors.md'), 'utf8');

/** Codes in the first column of the table under a heading. */
function listed(heading: string): string[] {
  const section = page.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!;
  return [...section.matchAll(/^\| `(\w+)` +\| *([^|]+) \| *([^|]+) \|$/gm)].map(([, code]) => code!);
}

test('docs/errors.md lists every code, with its meaning and what to do, and no other', () => {
  assert.deepEqual(listed('Permanent codes').sort(), [...PERMANENT_CODES].sort());
  assert.deepEqual(listed('Transient codes').sort(), [...TRANSIENT_CODES].sort());
});
