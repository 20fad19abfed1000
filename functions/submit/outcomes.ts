import { decodeIdentity, type FieldNames } from '../core/decode/identity.ts';
import { CodaflowError } from '../core/errors.ts';
import type { Delivery } from '../core/event.ts';
import { RETRY_LATER } from '../http/answers.ts';
import type { HttpAnswer } from '../http/handler.ts';
import type { Outcome } from '../ingest/pipeline.ts';

/** What the caller is told about one event. */
export interface EventOutcome {
  readonly event_id: string | null;
  readonly unique_key: string | null;
  /** All but `undecided` are final. */
  readonly outcome: 'stored' | 'repeated' | 'rejected' | 'undecided';
  readonly code?: string;
  readonly hint?: string;
}

export function eventOutcome(delivery: Delivery, outcome: Outcome, names: FieldNames): EventOutcome {
  if (outcome.kind === 'stored' || outcome.kind === 'repeated') {
    const { eventId, uniqueKey } = outcome.event;
    return { event_id: eventId, unique_key: uniqueKey, outcome: outcome.kind };
  }
  const { eventId, uniqueKey } = decodeIdentity(delivery, names);
  const identity = { event_id: eventId, unique_key: uniqueKey };
  if (outcome.kind === 'rejected') {
    return { ...identity, outcome: 'rejected', code: outcome.code, hint: outcome.hint };
  }
  const code = outcome.error instanceof CodaflowError ? outcome.error.code : 'unavailable';
  return { ...identity, outcome: 'undecided', code };
}

/** 200 once every event's fate is decided, 503 while one is not. The outcomes are in the order of the events. */
export function answerOutcomes(results: readonly EventOutcome[]): HttpAnswer {
  const decided = results.every(({ outcome }) => outcome !== 'undecided');
  return {
    status: decided ? 200 : 503,
    ...(decided ? {} : { headers: RETRY_LATER }),
    body: { results },
  };
}
