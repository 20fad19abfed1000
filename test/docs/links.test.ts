import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { SETTINGS } from '../../functions/settings.ts';
import { anchors, links, readPages } from './pages.ts';

/** What the pages name is there: files, headings, commands, settings, variables. */

const ROOT = path.resolve(import.meta.dirname, '../..');
const pages = readPages();
const byName = new Map(pages.map((page) => [page.name, page]));
const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');

/** Checks what `find` finds on each page; every miss is listed. */
function checkEach(find: (text: string) => Iterable<string>, isThere: (found: string) => boolean): void {
  const misses = pages.flatMap(({ name, text }) =>
    [...find(text)].filter((found) => !isThere(found)).map((found) => `${name}: ${found}`),
  );
  assert.deepEqual(misses, []);
}

const matches = (pattern: RegExp) => (text: string) => [...text.matchAll(pattern)].map(([, found]) => found!);

test('every relative link leads to a file, and to a heading in it', () => {
  const broken: string[] = [];
  for (const { name, prose } of pages) {
    for (const target of links(prose)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [file = '', fragment] = target.split('#');
      const found = file === '' ? name : path.posix.join(path.posix.dirname(name), file);
      const page = byName.get(found);
      const isThere = existsSync(path.join(ROOT, found));
      const isHeading = fragment === undefined || (page !== undefined && anchors(page.prose).has(fragment));
      if (!isThere || !isHeading) broken.push(`${name}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
});

test('every page of docs/ is linked from another page', () => {
  const linked = new Set(
    pages.flatMap(({ name, prose }) =>
      links(prose).map((target) => path.posix.join(path.posix.dirname(name), target.split('#')[0]!)),
    ),
  );
  assert.deepEqual(
    pages.filter(({ name }) => name.startsWith('docs/') && !linked.has(name)).map(({ name }) => name),
    [],
  );
});

test('every npm script that a page runs is one of package.json', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  checkEach(matches(/\bnpm (?:-s )?run (?:-s )?([\w:-]+)/g), (script) => script in scripts);
});

/** Files that the reader makes, and names that stand for one. */
const MADE = /^terraform\/(terraform\.tfvars|backend\.tf)$|\/NAME(\/|$)/;

test('every file of the project that a page names in code is there', () => {
  checkEach(
    matches(/`((?:functions|test|local|scripts|terraform|joins|examples|docs)\/[\w./-]*)`/g),
    (file) => MADE.test(file) || existsSync(path.join(ROOT, file)),
  );
});

test('every kind of log line that a page names in code is written somewhere', () => {
  const sources = globSync('{functions,scripts}/**/*.ts', { cwd: ROOT }).map(read).join('\n');
  checkEach(matches(/`((?:finish|ingest|join|poll|submit|sweep)\.(?!json`|ts`)[a-z_]+)`/g), (event) =>
    sources.includes(`'${event}'`),
  );
});

/** Names in capitals that are no settings: environment of the examples, statuses of services, placeholders. */
const OTHERS =
  /^(SUBMIT_URL|NODE_COMPILE_CACHE|NODE_OPTIONS|ALLOW_INTERNAL_ONLY|ALLOW_ALL|PROBE_SECRET_ORDERS|TO_JSON_STRING|PERMISSION_DENIED|DEADLINE_EXCEEDED|RESOURCE_EXHAUSTED|CURRENT_TIMESTAMP)$/;

test('every setting that a page names in code exists', () => {
  const settings = new Set(Object.values(SETTINGS).map(({ env }) => env));
  checkEach(
    matches(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g),
    (name) => settings.has(name) || OTHERS.test(name),
  );
});

test('every variable of Terraform that a page names in code exists', () => {
  const variables = read('terraform/variables.tf');
  const groups = 'alerts|bigquery|budget|firestore|polling|queues|schedules|subscriptions';
  checkEach(matches(new RegExp(`\`((?:${groups})\\.(?!tf\`|jobs|tables)[a-z_]+)`, 'g')), (name) => {
    const [group, member] = name.split('.');
    const block = new RegExp(`^variable "${group}" \\{[\\s\\S]*?^\\}`, 'm').exec(variables)?.[0] ?? '';
    return new RegExp(`^    ${member}\\s+=`, 'm').test(block);
  });
});
