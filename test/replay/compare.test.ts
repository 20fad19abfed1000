import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fewFlights, Launcher, scratch } from '../integration/launcher.ts';
import { compareExports, isEqual } from './compare.ts';

test('a run under chaos ends with the very rows of a quiet run', { timeout: 240_000 }, async () => {
  const folder = scratch();
  const data = fewFlights(folder, 400);
  const [quiet, chaos] = [path.join(folder, 'quiet'), path.join(folder, 'chaos')];
  const replay = async (out: string, ...more: string[]): Promise<void> => {
    const args = ['--once', '--json', '--data', data, '--completion', 'arrived,cancelled', '--shuffle', '7'];
    const launcher = new Launcher([...args, '--repeat', '0.02', '--export', out, ...more]);
    assert.equal(await launcher.exit(), 0, launcher.output);
  };
  await replay(quiet);
  await replay(chaos, '--chaos', '2');
  const comparisons = await compareExports(quiet, chaos);
  assert.deepEqual(
    comparisons.filter((comparison) => !isEqual(comparison)),
    [],
  );
  assert.ok(comparisons.filter(({ left }) => left > 0).length >= 4, 'nothing was compared');

  // The comparison itself: one lost row, one changed value.
  const summaries = path.join(chaos, 'summaries_latest.ndjson');
  const rows = readFileSync(summaries, 'utf8').split('\n');
  writeFileSync(summaries, [rows[0]!.replace('"complete":true', '"complete":false'), ...rows.slice(2)].join('\n'));
  const [found] = (await compareExports(quiet, chaos)).filter((comparison) => !isEqual(comparison));
  assert.deepEqual([found!.file, found!.onlyLeft.length, found!.onlyRight.length], ['summaries_latest', 2, 1]);
});
