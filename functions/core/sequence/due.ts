import type { Micros } from '../event.ts';
import { isComplete } from './fold.ts';
import type { Rules } from './rules.ts';
import type { State } from './state.ts';

const MINUTE = 60e6;
const HOUR = 3600e6;

/**
 * From when on the key's next summary can be claimed (a claim of somebody else: taken over); null when everything is
 * covered, 0 when it is due at once.
 */
export function dueAt(state: State, rules: Rules): Micros | null {
  const { fold, lastSeen, claim } = state;
  if (claim !== null) return claim.until;
  if (fold.count === state.confirmed) return null;
  const settled = Math.min(lastSeen + rules.settle, (state.uncoveredSince ?? lastSeen) + rules.settleMax);
  if (fold.coda !== null) {
    if (state.finished) return settled;
    return isComplete(fold) ? 0 : (state.codaSince ?? lastSeen) + rules.grace;
  }
  const deadline = Math.min(lastSeen + rules.silence, (state.expiredAt ?? state.generation) + rules.age);
  return state.expiredAt === null ? deadline : Math.max(deadline, settled);
}

/** Whether somebody should claim (or take over) the key's summary now. */
export function isDue(state: State, now: Micros, rules: Rules): boolean {
  const due = dueAt(state, rules);
  return due !== null && due <= now;
}

/** When to look next: the moment the key is due; a minute from now when it is due already and a hint is on its way. */
export function nextWake(state: State, now: Micros, rules: Rules): Micros | null {
  const due = dueAt(state, rules);
  return due !== null && due <= now ? now + MINUTE : due;
}

/** How long to wait after so many wake-ups without progress: from 1 minute, doubling, at most 1 hour. */
export function backoff(attempts: number): Micros {
  return Math.min(MINUTE * 2 ** Math.min(attempts, 10), HOUR);
}
