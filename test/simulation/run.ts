import type { Choices } from './choices.ts';
import { listed, seeded } from './choices.ts';
import { checkRest, isDone } from './check.ts';
import { randomDirector, type Director } from './director.ts';
import type { Plan } from './plan.ts';
import { planOf } from './plan-of.ts';
import { watch } from './watch.ts';
import { World } from './world.ts';

export interface Run {
  readonly world: World;
  /** Null when everything held. */
  readonly failure: Error | null;
}

export async function run(plan: Plan, director: Director): Promise<Run> {
  const world = new World(plan, director, watch);
  try {
    await world.run(isDone);
    checkRest(world);
    return { world, failure: null };
  } catch (error) {
    return { world, failure: error as Error };
  }
}

export interface SeedRun extends Run {
  readonly plan: Plan;
  readonly choices: readonly number[];
}

async function withChoices(plan: Plan, choices: Choices): Promise<SeedRun> {
  const result = await run(plan, randomDirector(choices, plan));
  return { ...result, plan, choices: choices.made };
}

export function runSeed(seed: number): Promise<SeedRun> {
  return withChoices(planOf(seed), seeded(seed));
}

export function replay(plan: Plan, choices: readonly number[]): Promise<SeedRun> {
  return withChoices(plan, listed(choices));
}
