import { CHOICES, asExpected } from './cases/judge.ts';
import { readCases } from './cases/format.ts';
import { runCase } from './cases/run.ts';
import { startCloud } from './cloud.ts';
import { InputError } from './demo/options.ts';
import { DEMO_SETTINGS } from './demo/settings.ts';
import { counted, grouped } from './demo/words.ts';
import { toldToEnd } from './ending.ts';

/**
 * `npm run cases -- FILE`: hard inputs through the real pipeline on the local cloud. Exit codes: 0 all as expected, 1 any
 * ends differently, 2 no usable file.
 */

const HELP = `npm run cases -- FILE

Sends hard inputs through the real functions on a local cloud, and compares what becomes of them with what the file
expects. FILE has a case a line, NDJSON or .gz, - for stdin:

  {"id": "DEC-01", "input": {"kind": "message", "data_text": "{'a': 1}"}, "expected": {"outcome": "dead_letter"}}

  input.kind   message (data_text or data_b64, attributes), messages (a list of them) or push_body (body: what is posted
               to the function); lines of any other kind are counted only
  outcome      accept, accept_normalised (the time was converted) or dead_letter
  check        free text; where it names reasons of docs/errors.md, the dead letter must have one of them
`;

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
  if (others > 0)
    process.stdout.write(`${counted(others, 'case')} left out: no messages, but sequences, recipes or deployments\n`);
  process.stdout.write(
    `${counted(cases.length, 'case')}, ${grouped(cases.length - different)} as expected, ${grouped(different)} different\n`,
  );
  return different === 0 ? 0 : 1;
}

const [file, ...more] = process.argv.slice(2);
if (file === '--help' || file === '-h') process.stdout.write(HELP);
else if (file === undefined || more.length > 0) {
  process.stderr.write('usage: npm run cases -- FILE (--help describes it)\n');
  process.exitCode = 2;
} else {
  try {
    process.exitCode = await main(file);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = error instanceof InputError ? 2 : 1;
  }
}
