import { parseArgs } from 'node:util';
import { describe } from './describe.ts';
import { runSeed } from './run.ts';

/** `simulate.ts --seeds N [--from S]` runs seeds, `--seed N` replays one and tells what happened. */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string' },
    seed: { type: 'string' },
    trace: { type: 'boolean' },
  },
});

if (values.seed !== undefined) {
  const result = await runSeed(Number(values.seed));
  if (result.failure !== null || values.trace === true) console.log(describe(result));
  else console.log(`seed ${values.seed} holds; trace ${result.world.traceHash()}`);
  process.exitCode = result.failure === null ? 0 : 1;
} else {
  const from = Number(values.from ?? 1);
  const count = Number(values.seeds ?? 1000);
  const started = Date.now();
  let [calls, faults] = [0, 0];
  const failed: number[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const { world, failure } = await runSeed(seed);
    calls += world.callsMade.length;
    faults += world.faultsMet;
    if (failure === null) continue;
    failed.push(seed);
    if (failed.length <= 10) {
      console.log(`seed ${seed}: ${failure.message.split('\n')[0]}\n  npm run simulate -- --seed ${seed}`);
    }
  }
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`${count} seeds, ${calls} calls, ${faults} faults met, ${failed.length} failures, ${seconds} s`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
