import { formatMicros } from '../core/time.ts';
import type { Micros } from '../core/event.ts';
import { deadline, outcomeEventId } from '../core/watch/watch.ts';
import type { WatchState } from '../core/watch/state.ts';

/** A watch as callers see it. */
export function describeWatch(state: WatchState): object {
  const { spec, outcome } = state;
  return {
    watch_id: spec.watchId,
    unique_key: spec.uniqueKey,
    state: outcome === null ? 'watching' : outcome.kind,
    reason: outcome?.reason ?? null,
    event_id: outcomeEventId(state),
    published: state.confirmed,
    created: formatMicros(state.created),
    decided: moment(outcome?.at ?? null),
    times_out: formatMicros(deadline(state)),
    next_attempt: state.attempt,
    next_attempt_due: outcome === null ? formatMicros(state.due) : null,
    last_checked: moment(state.lastChecked),
    last_found: state.lastFound,
    wake_ups_without_progress: state.attempts,
    kept_until: moment(state.expireAt),
  };
}

function moment(at: Micros | null): string | null {
  return at === null ? null : formatMicros(at);
}
