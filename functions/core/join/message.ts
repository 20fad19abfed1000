import { createHash } from 'node:crypto';
import { ATTRIBUTE_BYTES, keyAttributes } from '../ids.ts';
import type { JoinSettings } from './settings.ts';

/** A row of the ledger as a run reads it back. */
export interface LedgerRow {
  readonly result_id: string;
  readonly unique_key: string;
  readonly event_id: string;
  /** JSON text: the columns of the join's SELECT. */
  readonly message: string;
}

export interface ResultMessage {
  readonly data: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly orderingKey?: string;
}

/** Pub/Sub's limit in bytes of a message with its attributes. */
const MESSAGE_BYTES = 10_000_000;

function fits(text: string): boolean {
  return Buffer.byteLength(text) <= ATTRIBUTE_BYTES;
}

/** The text of a member for an attribute: a string as it is, other values as JSON; null when it has none. */
function memberText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The message of a row. Attributes that Pub/Sub would refuse for their length are left out: the body holds them all. */
export function resultMessage(join: JoinSettings, row: LedgerRow): ResultMessage {
  const attributes: Record<string, string> = {
    result_id: row.result_id,
    join: join.name,
    ...keyAttributes(row.unique_key),
  };
  let orderingKey: string | undefined;
  if (join.attributes.length > 0 || join.orderingKey !== null) {
    const members = JSON.parse(row.message) as Record<string, unknown>;
    for (const name of join.attributes) {
      const text = memberText(members[name]);
      if (text !== null && fits(text)) attributes[name] = text;
    }
    const key = join.orderingKey === null ? null : memberText(members[join.orderingKey]);
    if (key !== null && key !== '') orderingKey = fits(key) ? key : createHash('sha256').update(key).digest('hex');
  }
  return { data: row.message, attributes, ...(orderingKey === undefined ? {} : { orderingKey }) };
}

/** Why Pub/Sub cannot take the message, or null. */
export function tooLarge(message: ResultMessage): string | null {
  // Nearly all are so far below that their bytes need no counting: attributes are bounded.
  if (message.data.length < MESSAGE_BYTES / 10) return null;
  let bytes = Buffer.byteLength(message.data) + Buffer.byteLength(message.orderingKey ?? '');
  for (const [name, value] of Object.entries(message.attributes))
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  return bytes <= MESSAGE_BYTES
    ? null
    : `the message has ${bytes} bytes, Pub/Sub takes ${MESSAGE_BYTES}; select less in query.sql`;
}
