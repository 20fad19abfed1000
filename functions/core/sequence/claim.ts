import type { Micros } from '../event.ts';
import { backoff, isDue, nextWake } from './due.ts';
import type { Rules } from './rules.ts';
import type { Claim, State } from './state.ts';
import { summarise } from './summary.ts';

export type Claimed =
  /** The caller may write this claim's row. */
  | { readonly kind: 'claimed'; readonly state: State; readonly claim: Claim }
  /** Somebody else may; `state` differs from what was read only where the wake-up was too late. */
  | { readonly kind: 'busy'; readonly state: State }
  /** Nothing is due. */
  | { readonly kind: 'idle'; readonly state: State };

/** Claims the key's next summary, or takes over an expired claim unchanged. The caller stores `state`. */
export function claimSummary(state: State, now: Micros, rules: Rules): Claimed {
  if (state.claim !== null && state.claim.until > now) {
    const { until } = state.claim;
    return {
      kind: 'busy',
      state: state.wakeAt !== null && state.wakeAt <= until ? state : { ...state, wakeAt: until },
    };
  }
  if (!isDue(state, now, rules)) {
    const wakeAt = nextWake(state, now, rules);
    const exact = state.wakeAt === wakeAt && state.attempts === 0;
    return { kind: 'idle', state: exact ? state : { ...state, wakeAt, attempts: 0 } };
  }
  // After wake-ups without progress the claim lasts longer, so that what always fails is tried ever more rarely.
  const until = now + Math.max(rules.claim, state.attempts === 0 ? 0 : backoff(state.attempts - 1));
  if (state.claim !== null) {
    const claim = { ...state.claim, until };
    return { kind: 'claimed', claim, state: { ...state, claim, wakeAt: until } };
  }
  const revision = state.revision + 1;
  const claim = { version: state.fold.count, row: summarise(state, revision, now, rules), until };
  return {
    kind: 'claimed',
    claim,
    state: { ...state, revision, claim, uncoveredSince: null, wakeAt: wakeOfClaim(state, now, until) },
  };
}

/**
 * The first claim leaves a wake-up that comes before its end where it is, because every move of its index entry is paid
 * for: a wake-up that finds a live claim is set to its end. Once sweep has woken the key the two are one moment, so that
 * a summary that always fails has one wake-up for each attempt.
 */
function wakeOfClaim({ wakeAt, attempts }: State, now: Micros, until: Micros): Micros {
  return attempts === 0 && wakeAt !== null && wakeAt > now && wakeAt < until ? wakeAt : until;
}

export type Confirmed =
  /** `due`: the next summary is due already. */
  | { readonly kind: 'confirmed'; readonly state: State; readonly due: boolean }
  /** The claim is not there any more: somebody who took it over has confirmed it, or the key began a new life. */
  | { readonly kind: 'gone' };

/** Confirms that the claim's row was written and published. */
export function confirmSummary(state: State, claim: Claim, now: Micros, rules: Rules): Confirmed {
  const { row } = claim;
  const current = state.claim;
  if (current === null || state.generation !== row.generation || current.row.revision !== row.revision) {
    return { kind: 'gone' };
  }
  const next: State = {
    ...state,
    claim: null,
    confirmed: current.version,
    firstConfirmed: state.firstConfirmed === 0 ? current.version : state.firstConfirmed,
    finished: state.finished || row.state === 'finished',
    expiredAt: row.state === 'expired' ? now : state.expiredAt,
    attempts: 0,
  };
  const covered = next.confirmed === next.fold.count;
  return {
    kind: 'confirmed',
    due: isDue(next, now, rules),
    state: { ...next, wakeAt: nextWake(next, now, rules), expireAt: covered ? now + rules.retention : null },
  };
}
