import { parseArgs } from 'node:util';
import { keep } from './corpus.ts';
import { describe } from './describe.ts';
import { everyPair, everySingle } from './exhaustive.ts';
import { SCENARIOS } from './scenarios.ts';
import { replay, runSeed } from './run.ts';
import { shrink } from './shrink.ts';

/**
 * `--seeds N [--from S]` runs seeds, `--seed N` replays one and tells what happened; a failing one is cut down to the
 * smallest schedule that fails, and kept in the corpus under the name that `--keep NAME` gives it. `--exhaustive` tries
 * every fault point and every pair of the small scenarios, or of the one that `--scenario TEXT` names.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string' },
    seed: { type: 'string' },
    keep: { type: 'string' },
    trace: { type: 'boolean' },
    exhaustive: { type: 'boolean' },
    scenario: { type: 'string' },
  },
});

async function one(seed: number): Promise<void> {
  const first = await runSeed(seed);
  if (first.failure === null) {
    console.log(values.trace === true ? describe(first) : `seed ${seed} holds; trace ${first.world.traceHash()}`);
    return;
  }
  process.exitCode = 1;
  const smallest = await shrink(first, async ({ plan, choices }) => (await replay(plan, choices)).failure !== null);
  console.log(describe(await replay(smallest.plan, smallest.choices)));
  if (values.keep === undefined) return;
  keep({ name: values.keep, plan: smallest.plan, choices: smallest.choices });
  console.log(`Kept in test/simulation/corpus.json as ${JSON.stringify(values.keep)}.`);
}

async function many(count: number, from: number): Promise<void> {
  const started = Date.now();
  let [calls, faults] = [0, 0];
  const failed: number[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const { world, failure } = await runSeed(seed);
    calls += world.callsMade.length;
    faults += world.faultsMet;
    if (failure === null) continue;
    failed.push(seed);
    if (failed.length > 10) continue;
    console.log(`seed ${seed}: ${failure.message.split('\n')[0]}\n  npm run simulate -- --seed ${seed}`);
  }
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(
    `${count} seeds, ${calls} fault points hit, ${faults} faults met, ${failed.length} failures, ${seconds} s`,
  );
  if (failed.length > 0) process.exitCode = 1;
}

async function exhaustive(): Promise<void> {
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(values.scenario ?? ''))) {
    const started = Date.now();
    const singles = await everySingle(scenario);
    const pairs = await everyPair(scenario, true);
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    console.log(`${scenario.name}: ${singles} single faults and ${pairs} pairs hold, ${seconds} s`);
  }
}

if (values.exhaustive === true) await exhaustive();
else if (values.seed === undefined) await many(Number(values.seeds ?? 1000), Number(values.from ?? 1));
else await one(Number(values.seed));
