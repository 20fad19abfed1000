import type { Delivery, Event, EventRow, Micros } from '../event.ts';
import { PermanentError } from '../errors.ts';
import { MAX_ROW } from './limits.ts';

/**
 * The row of an event.
 *
 * @throws PermanentError too_large, before BigQuery would refuse it
 */
export function toRow(
  event: Event,
  delivery: Pick<Delivery, 'attributes' | 'messageId' | 'publishTime'>,
  ingestTime: Micros,
): EventRow {
  const row: EventRow = {
    event_id: event.eventId,
    unique_key: event.uniqueKey,
    event_status: event.eventStatus,
    event_time: event.eventTime,
    join_key: event.joinKey,
    sequence: event.sequence,
    payload: event.payload,
    extra: event.extra,
    attributes: Object.keys(delivery.attributes).length === 0 ? null : JSON.stringify(delivery.attributes),
    message_id: delivery.messageId === '' ? null : delivery.messageId,
    publish_time: delivery.publishTime,
    ingest_time: ingestTime,
  };
  const size = rowBytes(row);
  if (size > MAX_ROW) {
    throw new PermanentError('too_large', `the event takes ${size} bytes as a row, more than ${MAX_ROW}`);
  }
  return row;
}

/** Upper bound of the bytes that a row takes in a request. */
export function rowBytes(row: EventRow): number {
  let bytes = 0;
  for (const value of Object.values(row) as (string | number | null)[]) {
    bytes += 16 + (typeof value === 'string' ? Buffer.byteLength(value) : 0);
  }
  return bytes;
}
