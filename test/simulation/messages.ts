import type { Message } from '../../functions/ports.ts';
import { START } from '../fakes/clock.ts';
import { CODAS, type PlannedEvent, type PlannedWatch, type SubmittedItem } from './plan.ts';

/** Epoch microseconds of a planned event. */
export function timeOf(event: PlannedEvent): number {
  return START + Math.round(event.time * 1000);
}

/** What the producer publishes or submits. */
export function messageOf(planned: SubmittedItem): Message & { readonly data: string } {
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

/** A watch as somebody asks for it. */
export function watchText(watch: PlannedWatch): string {
  const ready = { pointer: '/state', equals: 'ready' };
  const failed = { pointer: '/state', equals: 'lost' };
  return JSON.stringify({
    watch_id: watch.id,
    unique_key: watch.key,
    probe:
      watch.probe === 'http'
        ? { type: 'http', url: `https://probe.example/${watch.id}`, ready, failed }
        : { type: 'bigquery_job', job_id: watch.id },
    interval: `${watch.interval}s`,
    timeout: `${watch.timeout}s`,
    ...(watch.backoff === undefined ? {} : { backoff: watch.backoff }),
    ...(watch.completes === true ? { statuses: { ready: CODAS[0] } } : {}),
  });
}
