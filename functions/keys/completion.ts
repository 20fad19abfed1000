import { digest, keyAttributes } from '../core/ids.ts';
import type { Message } from '../ports.ts';
import type { DueKey } from './documents.ts';

/** The hint for the topic `completions`: look at this key. */
export function completionMessage(due: DueKey): Message {
  return {
    data: JSON.stringify({ unique_key: due.uniqueKey }),
    attributes: { id: digest('completion', due.id).slice(0, 32), ...keyAttributes(due.uniqueKey) },
  };
}

/** The key that a hint names; null when the message is not one. */
export function completionKey(data: Uint8Array): string | null {
  try {
    const body: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
    if (typeof body !== 'object' || body === null || !('unique_key' in body)) return null;
    const { unique_key: key } = body;
    return typeof key === 'string' && key !== '' ? key : null;
  } catch {
    return null;
  }
}
