import { hash } from 'node:crypto';
import type { Event } from './event.ts';

/** SHA-256 of a tuple, 64 hexadecimal digits. Different tuples never share their encoding. */
export function digest(...parts: readonly (string | number | null)[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}

/** Longer ids cost storage in every index entry and read badly anyway. */
const READABLE_ID = 700;

/**
 * Id of a key's document: injective, legal for every key, spread evenly (not sequential), readable where possible.
 * The prefix keeps `.`, `..` and `__x__` legal; `~` marks a hash, since no encoded key has one.
 */
export function documentId(key: string): string {
  const hex = digest('key', key);
  const encoded = key.isWellFormed() ? encodeURIComponent(key).replaceAll('~', '%7E') : '';
  const readable = encoded !== '' && encoded.length <= READABLE_ID;
  return `${hex.slice(0, 4)}-${readable ? encoded : `~${hex}`}`;
}

/** Shard of a key in the index of wake-ups, from 0. */
export function shardOf(key: string, shards: number): number {
  return parseInt(digest('shard', key).slice(0, 12), 16) % shards;
}

/** What tells an event from others of its key, and from another event that wrongly took its id. */
export interface Identity {
  /** 16 bytes of the hash of the event id. */
  readonly id: Buffer;
  /** 4 bytes of the hash of status and time. */
  readonly check: number;
}

type Identified = Pick<Event, 'eventId' | 'eventStatus' | 'eventTime'>;

/** An event is asked for its identity several times, and again with every repeat of its transaction. */
const identities = new WeakMap<Identified, Identity>();

export function identityOf(event: Identified): Identity {
  let identity = identities.get(event);
  if (identity === undefined) {
    identity = {
      id: Buffer.from(digest('event', event.eventId).slice(0, 32), 'hex'),
      check: parseInt(digest('content', event.eventStatus, event.eventTime).slice(0, 8), 16),
    };
    identities.set(event, identity);
  }
  return identity;
}

/** Most bytes of one attribute of a Pub/Sub message. */
export const ATTRIBUTE_BYTES = 1024;

/** The key as attributes of a message: itself, or its hash where it is longer than Pub/Sub allows. */
export function keyAttributes(key: string): Record<string, string> {
  if (Buffer.byteLength(key) <= ATTRIBUTE_BYTES) return { unique_key: key };
  return { unique_key_sha256: hash('sha256', key, 'hex') };
}

/** Id of a summary's message: the same for every repeat of one revision. */
export function summaryId(key: string, generation: number, revision: number): string {
  return digest('summary', key, generation, revision).slice(0, 32);
}
