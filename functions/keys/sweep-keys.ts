import { documentId } from '../core/ids.ts';
import type { Ports } from '../ports.ts';
import { completionMessage } from './completion.ts';
import { SEQUENCES } from './documents.ts';
import type { SweepKind } from './sweep.ts';
import type { Found } from './wake.ts';

const keyOf = ({ document }: Found): string => (typeof document['key'] === 'string' ? document['key'] : '');

/** Keys: whoever wakes is published to `completions`. */
export function keysKind(bus: Ports['bus']): SweepKind {
  return {
    collection: SEQUENCES,
    name: keyOf,
    async hint(found, end) {
      const messages = found.map((one) => completionMessage({ uniqueKey: keyOf(one), id: documentId(keyOf(one)) }));
      const published = await end.guard({ bus }).bus.publish('completions', messages);
      return published.filter((result) => result instanceof Error);
    },
  };
}
