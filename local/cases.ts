import { CHOICES, asExpected } from './cases/judge.ts';
import { readCases } from './cases/format.ts';
import { runCase } from './cases/run.ts';
import { startCloud } from './cloud.ts';
import { DEMO_SETTINGS } from './demo/settings.ts';
import { toldToEnd } from './ending.ts';

/** `npm run cases -- FILE`: hard inputs through the real pipeline on the local cloud. Exit 1 when any ends differently. */

async function main(file: string): Promise<number> {
  const { signal } = toldToEnd();
  const { cases, others } = await readCases(file);
  const cloud = await startCloud({ settings: DEMO_SETTINGS, everySeconds: { join: 60, sweep: 60 } });
  let different = 0;
  try {
    for (const one of cases) {
      signal.throwIfAborted();
      const outcome = await runCase(cloud, one);
      const good = asExpected(one, outcome);
      if (!good) different++;
      const choice = CHOICES[one.id];
      const expected = choice === undefined ? one.outcome : `${choice.outcome} (${choice.because})`;
      const reasons = [...new Set(outcome.reasons)].join(', ');
      const actual = `${outcome.outcome}${reasons === '' ? '' : ` (${reasons})`}`;
      process.stdout.write(`${good ? 'ok       ' : 'DIFFERENT'}  ${one.id}  expected ${expected}, got ${actual}\n`);
    }
  } finally {
    await cloud.stop();
  }
  if (others > 0) process.stdout.write(`${others} cases are no single messages (sequences, recipes, deployments)\n`);
  process.stdout.write(`${cases.length} cases, ${cases.length - different} as expected, ${different} different\n`);
  return different === 0 ? 0 : 1;
}

const [file] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('usage: npm run cases -- FILE\n');
  process.exitCode = 2;
} else {
  try {
    process.exitCode = await main(file);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
