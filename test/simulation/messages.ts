import type { Message } from '../../functions/ports.ts';
import { START } from '../fakes/clock.ts';
import type { PlannedEvent, PlannedMessage } from './plan.ts';

/** Epoch microseconds of a planned event. */
export function timeOf(event: PlannedEvent): number {
  return START + event.time * 1000;
}

/** What the producer publishes. */
export function messageOf(planned: PlannedMessage): Message {
  if ('raw' in planned) return { data: planned.raw, attributes: {} };
  const { event } = planned;
  const body = {
    unique_key: event.key,
    event_status: event.status,
    timestamp: new Date(timeOf(event) / 1000).toISOString(),
    event_id: event.id,
    ...(event.sequence === undefined ? {} : { sequence: event.sequence }),
    ...(event.joinKey === undefined ? {} : { join_key: event.joinKey }),
    ...(event.amount === undefined ? {} : { payload: { amount: event.amount } }),
    ...(event.refused === undefined ? {} : { refused: true }),
  };
  return { data: JSON.stringify(body), attributes: {} };
}
