import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { SETTINGS, type Setting } from '../../functions/settings.ts';
import { HELP } from '../../local/demo/options.ts';

const readme = readFileSync(path.resolve(import.meta.dirname, '../../README.md'), 'utf8');

test('the README lists every setting with its default and meaning, and no other', () => {
  const cells = (row: string): string[] => row.split('|').slice(1, -1).map((cell) => cell.trim()); // prettier-ignore
  const listed = readme
    .slice(readme.indexOf('## Configuration'), readme.indexOf('## Layout'))
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map(cells);
  const settings = Object.values(SETTINGS) as Setting<unknown>[];
  const code = (text: string): string => (text === '' ? '' : `\`${text}\``);
  const wanted = settings.map(({ env, fallback, about }) => [
    code(env),
    fallback === undefined ? 'required' : code(fallback),
    about,
  ]);
  assert.deepEqual(listed, wanted);
});

test('every option that the README uses is one of npm start', () => {
  for (const [option] of readme.matchAll(/--(?!save)[a-z][a-z-]+/g)) assert.ok(HELP.includes(`  ${option} `), option);
});
