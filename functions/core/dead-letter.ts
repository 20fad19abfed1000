import { decodeIdentity, type FieldNames } from './decode/identity.ts';
import type { Delivery } from './event.ts';
import { TransientError, type PermanentCode } from './errors.ts';
import { keyAttributes } from './ids.ts';
import { formatMicros } from './time.ts';

/** Limits of Pub/Sub. */
const MAX_ATTRIBUTES = 100;
const MAX_NAME = 256;
const MAX_VALUE = 1024;
/** Bytes of a publish request, less what frames the message. */
const MAX_MESSAGE = 10_000_000 - 4096;

/** Our own attributes. A message's attribute of such a name moves to `original_` and its name. */
export const OWN_ATTRIBUTES: ReadonlySet<string> = new Set([
  'reason',
  'hint',
  'cause',
  'event_id',
  'unique_key',
  'unique_key_sha256',
  'origin',
  'message_id',
  'publish_time',
  'delivery_attempt',
  'ordering_key',
  'attributes_dropped',
]);

export interface Rejection {
  readonly code: PermanentCode;
  /** One line: what to change. */
  readonly hint: string;
  /** Code of the failure that used up the delivery attempts. */
  readonly cause?: string;
}

export interface DeadLetter {
  readonly data: Uint8Array;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * The dead letter of a message: its bytes as they came; our attributes (see docs/errors.md); the message's own
 * attributes under their own names. One that has the name of ours is kept as `original_` and its name, unless it is equal.
 *
 * @throws TransientError blocked, when no message within Pub/Sub's limits can hold the bytes
 */
export function deadLetter(delivery: Delivery, rejection: Rejection, names: FieldNames): DeadLetter {
  const identity = decodeIdentity(delivery, names);
  const own: Record<string, string> = {
    reason: rejection.code,
    hint: rejection.hint,
    ...(rejection.cause === undefined ? {} : { cause: rejection.cause }),
    ...(identity.eventId === null ? {} : { event_id: identity.eventId }),
    ...(identity.uniqueKey === null ? {} : keyAttributes(identity.uniqueKey)),
    origin: delivery.origin,
    ...(delivery.messageId === '' ? {} : { message_id: delivery.messageId }),
    ...(delivery.publishTime === null ? {} : { publish_time: formatMicros(delivery.publishTime) }),
    ...(delivery.deliveryAttempt === null ? {} : { delivery_attempt: String(delivery.deliveryAttempt) }),
    ...(delivery.orderingKey === null ? {} : { ordering_key: delivery.orderingKey }),
  };
  const attributes = new Map<string, string>();
  for (const [name, value] of Object.entries(own)) attributes.set(name, cutText(value, MAX_VALUE));

  let bytes = delivery.data.length + attributeBytes(attributes);
  let dropped = 0;
  for (const [original, value] of Object.entries(delivery.attributes)) {
    if (attributes.get(original) === value) continue;
    const name = OWN_ATTRIBUTES.has(original) ? `original_${original}` : original;
    const kept = cutText(value, MAX_VALUE);
    const size = Buffer.byteLength(name) + Buffer.byteLength(kept);
    // One place stays free for the count of those that were dropped.
    const fits = attributes.size < MAX_ATTRIBUTES - 1 && bytes + size <= MAX_MESSAGE - 64;
    if (fits && isLegalName(name) && !attributes.has(name)) {
      attributes.set(name, kept);
      bytes += size;
    } else dropped++;
  }
  if (dropped > 0) attributes.set('attributes_dropped', String(dropped));
  if (bytes > MAX_MESSAGE) {
    throw new TransientError(
      'blocked',
      'the message and the attributes of a dead letter are larger than Pub/Sub takes',
    );
  }
  return { data: delivery.data, attributes: Object.fromEntries(attributes) };
}

function attributeBytes(attributes: ReadonlyMap<string, string>): number {
  let bytes = 0;
  for (const [name, value] of attributes) bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  return bytes;
}

/** Pub/Sub keeps names that begin with `goog` for itself. */
function isLegalName(name: string): boolean {
  return name !== '' && !name.startsWith('goog') && Buffer.byteLength(name) <= MAX_NAME;
}

/** Well-formed text of at most `max` bytes, cut between characters. */
export function cutText(text: string, max: number): string {
  const bytes = Buffer.from(text.toWellFormed());
  if (bytes.length <= max) return bytes.toString();
  let end = max;
  // A byte 10xxxxxx continues the character before it.
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}
