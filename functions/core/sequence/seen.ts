import type { Identity } from '../ids.ts';

const ENTRY = 20;

/** What is known of an identity: nothing, or the hash of the status and time that it came with first. */
export function findSeen(ids: Uint8Array, identity: Identity): number | null {
  const { id } = identity;
  const view = Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength);
  const head = id.readUInt32BE(0);
  for (let at = 0; at < view.length; at += ENTRY) {
    if (view.readUInt32BE(at) !== head) continue;
    if (id.compare(view, at, at + 16) === 0) return view.readUInt32BE(at + 16);
  }
  return null;
}

export function addSeen(ids: Uint8Array, identity: Identity): Uint8Array {
  const grown = Buffer.alloc(ids.length + ENTRY);
  grown.set(ids);
  grown.set(identity.id, ids.length);
  grown.writeUInt32BE(identity.check, ids.length + 16);
  return grown;
}

export function countSeen(ids: Uint8Array): number {
  return ids.length / ENTRY;
}

/** Name of an identity's own document, past the inline bound. */
export function seenName(generation: number, identity: Identity): string {
  return `${generation}-${identity.id.toString('hex')}`;
}
