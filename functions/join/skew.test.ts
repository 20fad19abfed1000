import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OPEN, type Gate } from '../../test/fakes/gate.ts';
import { checkResults, config, MINUTE, published, start } from './fixture.ts';
import { runJoin } from './run.ts';

/** Two instances whose clocks differ from BigQuery's and from each other's, called by two schedulers at any time. */

test('whatever the clocks of two instances say, every row is published under one id and the cursor follows BigQuery', async () => {
  const skew = fc.integer({ min: -60 * MINUTE, max: 60 * MINUTE });
  const turns = fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(skew, skew, turns, async (first, second, interruptions) => {
      const w = await start({ wait: '0s' });
      const tick = (offset: number, gate: Gate = OPEN) => {
        const context = w.context(gate);
        const clock = { ...context.ports.clock, now: () => w.now() + offset };
        return runJoin({ ...context, ports: { ...context.ports, clock } });
      };
      for (const [i, at] of interruptions.entries()) {
        for (let row = 0; row < 3; row++) w.insert(`e${i}-${row}`);
        w.advance(2 * MINUTE);
        // The second scheduler fires in the middle of the first one's run.
        let calls = 0;
        const gate: Gate = {
          ...OPEN,
          before: async () => {
            if (calls++ === at) await tick(second).catch(() => undefined);
          },
        };
        await tick(first, gate).catch(() => undefined);
      }
      w.advance(2 * config.joinLease + 120 * MINUTE);
      await tick(0);
      const all = interruptions.flatMap((_, i) => [`e${i}-0`, `e${i}-1`, `e${i}-2`]);
      assert.deepEqual([...new Set(published(w))].sort(), all.sort());
      checkResults(w.bus.published('results'), w);
      assert.equal(w.cursor().position, w.now() - MINUTE);
    }),
    { numRuns: 200 },
  );
});
