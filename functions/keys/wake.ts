import { backoff } from '../core/sequence/due.ts';
import type { Micros } from '../core/event.ts';
import type { Document, Ports } from '../ports.ts';

/** Wake-ups without progress from which on a document counts as stuck. */
export const STUCK_AFTER = 20;

/** A document whose wake-up came due. */
export interface Found {
  readonly path: string;
  readonly document: Document;
}

/**
 * Pushes a wake-up back, so that the next round finds what it has not seen yet. Acts only while `wake_at` is the value
 * that was found: whoever moved it has looked at the document since. Returns the number of wake-ups without progress,
 * this one included; null when there was nothing to do.
 */
export async function pushBack(store: Ports['store'], found: Found, now: () => Micros): Promise<number | null> {
  return store.transaction(async (tx) => {
    const [document] = await tx.get([found.path]);
    if (document === null || document === undefined) return null;
    if (document['wake_at'] !== found.document['wake_at']) return null;
    const before = Number(document['attempts'] ?? 0);
    tx.set(found.path, { ...document, wake_at: now() + backoff(before), attempts: before + 1 });
    return before + 1;
  });
}
