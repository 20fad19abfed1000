import { shardOf } from '../ids.ts';
import { Reader, Writer } from './bytes.ts';
import { decodeClaim, encodeClaim } from './claim-codec.ts';
import { readFold, writeFold } from './fold-codec.ts';
import type { Rules } from './rules.ts';
import type { State } from './state.ts';

/**
 * The stored form of a key's state, version 1. What queries and people look at are plain fields; the rest is packed,
 * because nested maps cost many times the CPU of one bytes field. Absent means null.
 */
export interface StoredState {
  readonly v: 1;
  readonly key: string;
  readonly shard: number;
  readonly generation: number;
  readonly version: number;
  readonly confirmed: number;
  readonly last_seen: number;
  readonly attempts: number;
  readonly wake_at?: number;
  readonly expire_at?: number;
  readonly state: Uint8Array;
  readonly ids: Uint8Array;
  readonly claim?: Uint8Array;
}

export function encodeState(state: State, rules: Rules): StoredState {
  const w = new Writer();
  w.count(state.firstConfirmed);
  w.count(state.revision);
  w.flag(state.finished);
  w.optional(state.expiredAt, (at) => w.integer(at));
  w.optional(state.uncoveredSince, (at) => w.integer(at));
  w.optional(state.codaSince, (at) => w.integer(at));
  writeFold(w, state.fold);
  return {
    v: 1,
    key: state.uniqueKey,
    shard: shardOf(state.uniqueKey, rules.shards),
    generation: state.generation,
    version: state.fold.count,
    confirmed: state.confirmed,
    last_seen: state.lastSeen,
    attempts: state.attempts,
    ...(state.wakeAt === null ? {} : { wake_at: state.wakeAt }),
    ...(state.expireAt === null ? {} : { expire_at: state.expireAt }),
    state: w.done(),
    ids: state.ids,
    ...(state.claim === null ? {} : { claim: encodeClaim(state.claim) }),
  };
}

/** @throws Error when the document is not of a version that this code knows */
export function decodeState(document: Readonly<Record<string, unknown>>): State {
  if (document['v'] !== 1) throw new Error(`the state of a key has the unknown version ${String(document['v'])}`);
  const stored = document as unknown as StoredState;
  const r = new Reader(stored.state);
  return {
    uniqueKey: stored.key,
    generation: stored.generation,
    firstConfirmed: r.count(),
    revision: r.count(),
    finished: r.flag(),
    expiredAt: r.optional(() => r.integer()),
    uncoveredSince: r.optional(() => r.integer()),
    codaSince: r.optional(() => r.integer()),
    fold: readFold(r),
    ids: stored.ids,
    confirmed: stored.confirmed,
    lastSeen: stored.last_seen,
    claim: stored.claim === undefined ? null : decodeClaim(stored.key, stored.claim),
    wakeAt: stored.wake_at ?? null,
    attempts: stored.attempts,
    expireAt: stored.expire_at ?? null,
  };
}
