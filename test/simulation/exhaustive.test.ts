import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { everyPair, everySingle } from './exhaustive.ts';
import { SCENARIOS } from './scenarios.ts';

describe('every fault point', () => {
  for (const scenario of SCENARIOS) {
    // A join makes many calls, four messages have many orders: `npm run simulate -- --exhaustive` tries all of them.
    const step = scenario.story.join === true ? 11 : scenario.story.messages.length > 3 ? 3 : 1;
    it(`${scenario.name}: every ${['', '', '', 'third '][step] ?? 'eleventh '}single fault in every order`, async (t) => {
      const runs = await everySingle(scenario, step);
      t.diagnostic(`${runs} runs`);
      assert.ok(runs > 50);
    });
    if (scenario.story.join === true) continue;
    it(`${scenario.name}: every pair of points, the kinds in turn`, async (t) => {
      const runs = await everyPair(scenario, false);
      t.diagnostic(`${runs} runs`);
      assert.ok(runs > 30);
    });
  }
});
