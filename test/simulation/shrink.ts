import type { Plan } from './plan.ts';

export interface Schedule {
  readonly plan: Plan;
  readonly choices: readonly number[];
}

/** Most replays that one shrinking may take. */
const MOST = 3000;

/**
 * A smaller schedule that still fails: messages are left out and decisions made plain, in ever smaller pieces, as long
 * as something can go.
 */
export async function shrink(schedule: Schedule, fails: (schedule: Schedule) => Promise<boolean>): Promise<Schedule> {
  let best = schedule;
  let replays = 0;
  const attempt = async (smaller: Schedule): Promise<boolean> => {
    if (replays++ >= MOST || !(await fails(smaller))) return false;
    best = smaller;
    return true;
  };
  for (let before = ''; before !== JSON.stringify(best) && replays < MOST;) {
    before = JSON.stringify(best);
    await inPieces(
      () => best.plan.messages.length,
      (from, to) => {
        const messages = best.plan.messages.filter((_, i) => i < from || i >= to);
        return attempt({ ...best, plan: { ...best.plan, messages } });
      },
    );
    await inPieces(
      () => decisions(best.choices).length,
      (from, to) => {
        const plain = new Set(decisions(best.choices).slice(from, to));
        return attempt({ ...best, choices: trimmed(best.choices.map((choice, i) => (plain.has(i) ? 0 : choice))) });
      },
    );
  }
  return { ...best, choices: trimmed(best.choices) };
}

/** Places of the decisions that are not plain. */
function decisions(choices: readonly number[]): number[] {
  return choices.flatMap((choice, place) => (choice === 0 ? [] : [place]));
}

function trimmed(choices: readonly number[]): readonly number[] {
  return choices.slice(0, choices.findLastIndex((choice) => choice !== 0) + 1);
}

/** Tries to drop halves, then quarters, and so on. */
async function inPieces(length: () => number, drop: (from: number, to: number) => Promise<boolean>): Promise<void> {
  for (let size = Math.ceil(length() / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < length();) if (!(await drop(from, from + size))) from += size;
  }
}
