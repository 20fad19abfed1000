import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { everyPair, everySingle } from './exhaustive.ts';
import { SCENARIOS } from './scenarios.ts';

describe('every fault point', () => {
  for (const scenario of SCENARIOS) {
    it(`${scenario.name}: every single fault in every order`, async (t) => {
      const runs = await everySingle(scenario);
      t.diagnostic(`${runs} runs`);
      assert.ok(runs > 50);
    });
    // Those of a join take minutes: `npm run simulate -- --exhaustive` has them, with all kinds of faults on both points.
    if (scenario.story.join === true) continue;
    it(`${scenario.name}: every pair of points, the kinds in turn`, async (t) => {
      const runs = await everyPair(scenario, false);
      t.diagnostic(`${runs} runs`);
      assert.ok(runs > 30);
    });
  }
});
