import type { Delivery } from '../event.ts';
import { scanObject, unquote, type JsonMember } from '../json.ts';
import type { FieldNames } from './decode.ts';
import { messageText } from './text.ts';

export type { FieldNames } from './decode.ts';

/** What a message says about its identity, as far as it can be read although something else is wrong with it. */
export interface LikelyIdentity {
  readonly eventId: string | null;
  readonly uniqueKey: string | null;
}

/** For the labels of a dead letter only: nothing is decided by it. */
export function decodeIdentity(
  delivery: Pick<Delivery, 'data' | 'attributes' | 'messageId'>,
  names: FieldNames,
): LikelyIdentity {
  const members = tryScan(delivery);
  const read = (name: string): string | null => {
    const same = members.filter((member) => member.name === name);
    const value = same.length === 1 && same[0]!.kind === 'string' ? unquote(same[0]!.source) : '';
    return value !== '' && value.isWellFormed() ? value : null;
  };
  const fallback = delivery.attributes['event_id'] ?? delivery.messageId;
  return {
    eventId: read(names.event_id) ?? (fallback === '' ? null : fallback),
    uniqueKey: read(names.unique_key),
  };
}

function tryScan(delivery: Pick<Delivery, 'data' | 'attributes'>): readonly JsonMember[] {
  try {
    const found = scanObject(messageText(delivery.data, delivery.attributes));
    return typeof found === 'string' ? [] : found;
  } catch {
    return [];
  }
}
