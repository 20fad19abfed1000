import type { Micros } from '../event.ts';
import { digest } from '../ids.ts';
import { cutText } from '../dead-letter.ts';
import { isPayload } from '../json.ts';
import { encodeSpec } from './codec.ts';
import type { WatchSpec } from './spec.ts';
import type { Outcome, WatchRules, WatchState } from './state.ts';

/** What a probe found. */
export type Found =
  | { readonly kind: 'ready'; readonly answer: string | null }
  | { readonly kind: 'pending'; readonly note: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly answer: string | null };

const MINUTE = 60e6;
/** Bytes of an answer that an event carries. */
export const MAX_ANSWER = 64 * 1024;
const MAX_REASON = 500;

export type Created = { readonly kind: 'created' | 'exists' | 'conflict'; readonly state: WatchState };

/** Creates a watch. The same content again changes nothing; other content under the same id is a conflict. */
export function createWatch(known: WatchState | null, spec: WatchSpec, now: Micros, rules: WatchRules): Created {
  if (known !== null) {
    return { kind: encodeSpec(known.spec) === encodeSpec(spec) ? 'exists' : 'conflict', state: known };
  }
  const state: WatchState = {
    spec,
    created: now,
    attempt: 1,
    due: now,
    outcome: null,
    confirmed: false,
    wakeAt: now + rules.slack,
    attempts: 0,
    expireAt: null,
    lastChecked: null,
    lastFound: null,
  };
  return { kind: 'created', state };
}

/** The moment of the last attempt. */
export function deadline({ created, spec }: WatchState): Micros {
  return created + spec.timeout;
}

/**
 * The pause after an attempt: grows up to its ceiling, less up to a tenth, so that watches created together drift apart.
 * The same for every instance that asks.
 */
export function pause({ spec, created }: WatchState, attempt: number): Micros {
  const full = Math.min(spec.interval * spec.backoff ** Math.min(attempt - 1, 1000), spec.maxInterval);
  const share = parseInt(digest('pause', spec.watchId, created, attempt).slice(0, 8), 16) / 2 ** 32;
  return Math.round(full * (1 - share / 10));
}

/**
 * Takes in what the attempt found that looked at `looked`; null when another attempt is the next one, or the outcome is
 * decided already. Only a look at the deadline or later times out, however long ago an earlier one was: what is ready
 * then is ready.
 */
export function recordAttempt(
  state: WatchState,
  attempt: number,
  found: Found,
  looked: Micros,
  now: Micros,
  rules: WatchRules,
): WatchState | null {
  if (state.outcome !== null || state.attempt !== attempt) return null;
  const checked = { ...state, lastChecked: now, attempts: 0 };
  switch (found.kind) {
    case 'ready':
      return decide(checked, { kind: 'ready', at: now, reason: null, answer: carried(found.answer) }, now, 'ready');
    case 'failed':
      return decide(checked, { kind: 'failed', at: now, reason: short(found.reason), answer: carried(found.answer) }, now, found.reason); // prettier-ignore
    case 'pending': {
      const end = deadline(state);
      // No task comes before it is due, so a clock that says so is behind.
      if (Math.max(looked, state.due) >= end) {
        const reason = `not ready after ${attempt} attempts: ${found.note}`;
        return decide(checked, { kind: 'timed_out', at: now, reason: short(reason), answer: null }, now, found.note);
      }
      const due = Math.max(Math.min(now + pause(state, attempt), end), now);
      return { ...checked, attempt: attempt + 1, due, wakeAt: due + rules.slack, lastFound: short(found.note) };
    }
  }
}

/** Cancels a watch that has no outcome yet; null when it has one. */
export function cancelWatch(state: WatchState, now: Micros): WatchState | null {
  if (state.outcome !== null) return null;
  return decide(state, { kind: 'cancelled', at: now, reason: 'cancelled by request', answer: null }, now, null);
}

/** The outcome's event is published: nothing is left to do. */
export function confirmOutcome(state: WatchState, now: Micros, rules: WatchRules): WatchState | null {
  if (state.outcome === null || state.confirmed) return null;
  return { ...state, confirmed: true, wakeAt: null, attempts: 0, expireAt: now + rules.retention };
}

function decide(state: WatchState, outcome: Outcome, now: Micros, found: string | null): WatchState {
  return {
    ...state,
    outcome,
    wakeAt: now + MINUTE,
    attempts: 0,
    lastFound: found === null ? state.lastFound : short(found),
  };
}

/** Id of the outcome's event: one for a watch, whatever the outcome. */
export function outcomeEventId({ spec, created }: WatchState): string {
  return digest('watch', spec.watchId, created).slice(0, 32);
}

/** Name of the task of the next attempt. A lost one is replaced under another name, since the old one stays taken. */
export function taskName({ spec, created, attempt }: WatchState, wakeUps: number): string {
  return digest('task', spec.watchId, created, attempt, wakeUps).slice(0, 40);
}

const short = (text: string) => cutText(text, MAX_REASON);
/** An answer that an event cannot carry must not cost the event. */
const carried = (answer: string | null) =>
  answer !== null && Buffer.byteLength(answer) <= MAX_ANSWER && isPayload(answer) ? answer : null;
