import { MAX_KEY } from '../core/decode/limits.ts';
import type { Micros } from '../core/event.ts';
import { identityOf } from '../core/ids.ts';
import { isComplete } from '../core/sequence/fold.ts';
import { findSeen, seenName } from '../core/sequence/seen.ts';
import type { State } from '../core/sequence/state.ts';
import { formatMicros } from '../core/time.ts';
import type { HttpAnswer } from '../http/handler.ts';
import { readState, seenPath, sequencePath } from '../keys/documents.ts';
import type { Store } from '../ports.ts';

/**
 * `?unique_key=...[&event_id=...]`: what is known about a key, and whether it holds the event. Read without a lock: a
 * write under way may or may not show.
 */
export async function inspect(query: string, store: Pick<Store, 'get'>): Promise<HttpAnswer> {
  const given = new URLSearchParams(query);
  const uniqueKey = given.get('unique_key') ?? '';
  const eventId = given.get('event_id');
  if (uniqueKey === '') return refuse('missing_key', 'say which key: ?unique_key=KEY or ?unique_key=KEY&event_id=ID');
  if (Buffer.byteLength(uniqueKey) > MAX_KEY) return refuse('too_large', `unique_key is longer than ${MAX_KEY} bytes`);
  const state = readState(await store.get(sequencePath(uniqueKey)));
  const event = eventId === null ? {} : { event: { event_id: eventId, held: await holds(state, eventId, store) } };
  const described = state === null ? { state: 'absent' } : describeState(state);
  return { status: 200, body: { unique_key: uniqueKey, ...described, ...event } };
}

async function holds(state: State | null, eventId: string, store: Pick<Store, 'get'>): Promise<boolean> {
  if (state === null) return false;
  // Status and time only tell a repeat from a conflict.
  const identity = identityOf({ eventId, eventStatus: '', eventTime: 0 });
  if (findSeen(state.ids, identity) !== null) return true;
  return (await store.get(seenPath(sequencePath(state.uniqueKey), seenName(state.generation, identity)))) !== null;
}

function describeState(state: State): object {
  const { fold, claim } = state;
  return {
    state: state.finished ? 'finished' : state.expiredAt !== null ? 'expired' : 'open',
    generation: state.generation,
    events: fold.count,
    events_in_summary: state.confirmed,
    revision: state.revision,
    first_event_time: formatMicros(fold.firstTime),
    last_event_time: formatMicros(fold.lastTime),
    last_arrival: formatMicros(state.lastSeen),
    completion:
      fold.coda === null
        ? null
        : {
            event_id: fold.coda.eventId,
            event_status: fold.coda.status,
            event_time: formatMicros(fold.coda.time),
            complete: isComplete(fold),
          },
    pending_summary:
      claim === null
        ? null
        : {
            revision: claim.row.revision,
            state: claim.row.state,
            events: claim.version,
            taken_over_after: formatMicros(claim.until),
          },
    next_wake_up: moment(state.wakeAt),
    wake_ups_without_progress: state.attempts,
    kept_until: moment(state.expireAt),
  };
}

function moment(at: Micros | null): string | null {
  return at === null ? null : formatMicros(at);
}

function refuse(code: string, message: string): HttpAnswer {
  return { status: 400, body: { code, message } };
}
