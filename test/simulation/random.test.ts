import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { corpus } from './corpus.ts';
import { replay, runSeed } from './run.ts';
import { shrink } from './shrink.ts';

const SEEDS = 400;

describe('simulation', () => {
  it('random seeds hold', async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { failure } = await runSeed(seed);
      if (failure !== null) throw new Error(`npm run simulate -- --seed ${seed}`, { cause: failure });
    }
  });

  it('a seed gives the same run every time, step by step', async () => {
    const hashes = new Set<string>();
    for (let seed = 1; seed <= 40; seed++) {
      const [first, second] = [await runSeed(seed), await runSeed(seed)];
      assert.equal(first.world.traceHash(), second.world.traceHash(), `seed ${seed}`);
      const again = await replay(first.plan, first.choices);
      assert.equal(again.world.traceHash(), first.world.traceHash(), `decisions of seed ${seed}`);
      hashes.add(first.world.traceHash());
    }
    assert.equal(hashes.size, 40);
  });

  it('a failing schedule shrinks to what makes it fail', async () => {
    const { plan, choices } = await runSeed(5);
    const smallest = await shrink({ plan, choices }, async (schedule) => {
      const { world } = await replay(schedule.plan, schedule.choices);
      return world.faultsMet > 0 && world.bus.published('summaries').length > 0;
    });
    assert.equal(smallest.plan.messages.length, 1);
    assert.equal(smallest.choices.filter((choice) => choice !== 0).length, 1);
  });
});

describe('schedules that failed once', () => {
  for (const { name, plan, choices } of corpus()) {
    it(name, async () => {
      const { failure } = await replay(plan, choices);
      if (failure !== null) throw failure;
    });
  }
});
