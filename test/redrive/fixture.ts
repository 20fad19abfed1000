import type { Letter } from '../../scripts/redrive/letter.ts';
import type { Ledger, Source } from '../../scripts/redrive/run.ts';

export function letter(changes: Partial<Letter> = {}): Letter {
  return {
    messageId: 'd-1',
    publishTime: 1_704_448_800_000_000,
    data: Buffer.from('{"unique_key":"k"}'),
    attributes: { reason: 'missing_field', event_id: 'e-1', origin: 'projects/p/subscriptions/events-ingest' },
    ...changes,
  };
}

export function letters(count: number): Letter[] {
  return Array.from({ length: count }, (_, i) => letter({ messageId: `d-${i}`, data: Buffer.from(String(i)) }));
}

export function sourceOf(all: readonly Letter[], size = 7): Source {
  return {
    async *pages() {
      for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
    },
  };
}

export function memoryLedger(): Ledger {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    add: async (added) => added.forEach((id) => ids.add(id)),
  };
}
