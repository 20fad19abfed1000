import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { SETTINGS, type Setting } from '../../functions/settings.ts';
import { HELP } from '../../local/demo/options.ts';

const page = (name: string): string => readFileSync(path.resolve(import.meta.dirname, '../..', name), 'utf8');
const readme = page('README.md');
const settings = Object.values(SETTINGS) as Setting<unknown>[];

/** Rows of tables of settings. */
function rows(markdown: string): string[][] {
  const cells = (row: string): string[] => row.split('|').slice(1, -1).map((cell) => cell.trim()); // prettier-ignore
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map(cells);
}

function row({ env, fallback, about }: Setting<unknown>): string[] {
  const code = (text: string): string => (text === '' ? '' : `\`${text}\``);
  return [code(env), fallback === undefined ? 'required' : code(fallback), about];
}

test('docs/configuration.md lists every setting with its default and meaning, and no other', () => {
  assert.deepEqual(rows(page('docs/configuration.md')), settings.map(row));
});

test('the settings that the README shows are as they are', () => {
  const shown = rows(readme.slice(readme.indexOf('## Configuration'), readme.indexOf('## Layout')));
  const known = new Map(settings.map((one) => [row(one)[0], row(one)]));
  assert.deepEqual(
    shown,
    shown.map(([name]) => known.get(name)),
  );
  assert.equal(shown.length, 10);
});

test('every option that the README uses is one of npm start', () => {
  for (const [option] of readme.matchAll(/--(?!save)[a-z][a-z-]+/g)) assert.ok(HELP.includes(`  ${option} `), option);
});
