import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { MUTATIONS } from './list.ts';
import type { Mutation } from './mutation.ts';

/**
 * Takes each guard away in a copy of the tree, and expects the test that is named for it to fail there. `--only TEXT`
 * does so with those whose name or guarantee has the text.
 */
const { only = '' } = parseArgs({ options: { only: { type: 'string' } } }).values;
const chosen = MUTATIONS.filter(({ name, guarantee }) => `${guarantee}: ${name}`.includes(only));
const root = path.resolve(import.meta.dirname, '../..');
const copy = mkdtempSync(path.join(tmpdir(), 'codaflow-mutations-'));

function passes({ proof }: Mutation): boolean {
  const pattern = `^${proof.test.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
  const args = ['--test', '--test-reporter=tap', `--test-name-pattern=/${pattern}/`, proof.file];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: copy, env, encoding: 'utf8', timeout: 120_000 });
  if (status === 0 && !/^# pass [1-9]/m.test(stdout)) throw new Error(`no test ${proof.test} in ${proof.file}`);
  return status === 0;
}

function caught(mutation: Mutation): boolean {
  const file = path.join(copy, mutation.file);
  const source = readFileSync(file, 'utf8');
  if (source.split(mutation.search).length !== 2) throw new Error(`${mutation.name}: not once in ${mutation.file}`);
  if (!passes(mutation)) throw new Error(`${mutation.proof.test} fails although nothing was taken away`);
  writeFileSync(
    file,
    source.replace(mutation.search, () => mutation.replace),
  );
  try {
    return !passes(mutation);
  } finally {
    writeFileSync(file, source);
  }
}

let [found, survived] = [0, 0];
try {
  for (const part of ['functions', 'test', 'local', 'package.json', 'tsconfig.json', 'terraform']) {
    cpSync(path.join(root, part), path.join(copy, part), {
      recursive: true,
      filter: (source) => !source.includes('node_modules'),
    });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  for (const mutation of chosen) {
    let result = 'caught';
    try {
      if (!caught(mutation)) result = 'SURVIVED';
    } catch (error) {
      result = `UNDECIDED (${(error as Error).message})`;
    }
    if (result === 'caught') found++;
    else survived++;
    console.log(`${result}: ${mutation.name} -> ${mutation.proof.test}`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
console.log(`${chosen.length} guards taken away, ${found} caught by name, ${survived} not`);
process.exitCode = survived === 0 && found > 0 ? 0 : 1;
