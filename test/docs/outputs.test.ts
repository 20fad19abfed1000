import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

test('the page of the outputs has every column of their tables, in order and with its type, and no other', () => {
  const page = read('docs/outputs.md');
  for (const table of ['summaries', 'events', 'joined', 'dead_letters']) {
    const schema = JSON.parse(read(`terraform/schemas/${table}.json`)) as { name: string; type: string }[];
    const rows = page.split(`| Column of \`${table}\` |`)[1]!.split('\n\n')[0]!.split('\n').slice(2);
    const told = rows.flatMap((row) => {
      const [, names = '', types = ''] = row.split('|');
      const list = types.trim().split(', ');
      return [...names.matchAll(/`(\w+)`/g)].map(([, name], i) => `${name} ${list[i] ?? list[0]}`);
    });
    assert.deepEqual(told, schema.map(({ name, type }) => `${name} ${type}`)); // prettier-ignore
  }
});
