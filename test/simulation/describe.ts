import { inspect } from 'node:util';
import { decodeState } from '../../functions/core/sequence/codec.ts';
import type { SeedRun } from './run.ts';

/** A run for people: what was published, what happened in which order, where the keys stand, what is wrong. */
export function describe({ plan, world, failure }: SeedRun): string {
  const states = [...world.store.dump()]
    .filter(([path]) => path.split('/').length === 2)
    .map(([path, document]) => {
      const shown = path.startsWith('sequences/') ? decodeState(document) : document;
      return `${path} ${inspect(shown, { depth: 5, breakLength: 160, maxArrayLength: 20 })}`;
    });
  const rows = world.summaries.commits.map(({ row }) => inspect(row, { depth: 1, breakLength: 200 }));
  return [
    'Plan:',
    inspect({ ...plan, messages: plan.messages.length }, { breakLength: 160 }),
    ...plan.messages.map((message) => `  ${JSON.stringify(message)}`),
    'Trace (seconds, instance.function port.call what):',
    ...world.trace,
    'Summaries:',
    ...rows,
    'State:',
    ...states,
    'Now:',
    `${(world.clock.now() - 1_704_448_800_000_000) / 1e6} s`,
    failure === null ? 'Everything held.' : `Failure: ${inspect(failure)}`,
  ].join('\n');
}
