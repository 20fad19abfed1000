import type { Choices } from './choices.ts';
import { chooseFault, hasEffect, NONE, type Call, type Fault } from './faults.ts';
import type { Plan } from './plan.ts';

/** Decides everything that the world leaves open. */
export interface Director {
  /** Which of so many steps that could go next, oldest first. */
  next(steps: number): number;
  fault(call: Call): Fault;
  /** Which instance serves a request. */
  instance(count: number): number;
  /** Milliseconds until the same message is delivered again whatever becomes of it; null is once only. */
  repeat(): number | null;
  /** How often the scheduler fires one tick; `minute` counts from the start. */
  ticks(entry: 'sweep' | 'join', minute: number): number;
  /** Whether a job that is waited for ends within the wait. */
  endsInTime(): boolean;
  /** Milliseconds that pass although there is something to do. */
  pause(): number;
}

/** Everything goes well, in the order in which it came up. */
export const FAIR: Director = {
  next: () => 0,
  fault: () => NONE,
  instance: () => 0,
  repeat: () => null,
  ticks: () => 1,
  endsInTime: () => true,
  pause: () => 0,
};

const REPEATS = [null, 0, 5_000, 120_000];
const PAUSES = [0, 100, 5_000, 40_000];

/** Leaves everything to chance, with as many faults as the plan allows. */
export function randomDirector(choices: Choices, plan: Plan): Director {
  let left = plan.faults;
  /** Something that is not ordinary, while the budget lasts. */
  const rare = <T>(options: readonly T[], chance: number): T => {
    if (left === 0) return options[0]!;
    const index = choices.pick([1 - chance, ...options.slice(1).map(() => chance / (options.length - 1))]);
    if (index > 0) left--;
    return options[index]!;
  };
  return {
    next: (steps) => (steps === 1 ? 0 : choices.pick([steps, ...Array.from({ length: steps - 1 }, () => 1)])),
    fault(call) {
      if (left === 0 || (plan.focus !== null && plan.focus !== call.entry)) return NONE;
      // Most calls only look; a fault of one that changes something tells more.
      const fault = chooseFault(choices, call, hasEffect(call) ? plan.rate : plan.rate / 3);
      if (fault.kind !== 'none') left--;
      return fault;
    },
    instance: (count) => (count === 1 ? 0 : choices.pick(Array.from({ length: count }, () => 1))),
    repeat: () => rare(REPEATS, 0.1),
    ticks: () => rare([1, 2, 0], 0.1),
    endsInTime: () => rare([true, false], 0.1),
    pause: () => rare(PAUSES, 0.01),
  };
}
