import { shardOf } from '../ids.ts';
import { FORMAT, readStored, storedNumber, storedText } from '../stored.ts';
import { Reader, Writer } from './bytes.ts';
import { decodeClaim, encodeClaim } from './claim-codec.ts';
import { readFold, writeFold } from './fold-codec.ts';
import type { Rules } from './rules.ts';
import { countSeen } from './seen.ts';
import type { State } from './state.ts';

/**
 * The stored form of a key's state, version 1. What queries and people look at are plain fields; the rest is packed,
 * because nested maps cost many times the CPU of one bytes field. Absent means null. `shard` goes with `wake_at`: an
 * index of Firestore Enterprise has an entry for whatever has one of its fields, and each change of it is paid for.
 */
export interface StoredState {
  readonly v: typeof FORMAT;
  readonly key: string;
  readonly shard?: number;
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
    v: FORMAT,
    key: state.uniqueKey,
    generation: state.generation,
    version: state.fold.count,
    confirmed: state.confirmed,
    last_seen: state.lastSeen,
    attempts: state.attempts,
    ...(state.wakeAt === null ? {} : { shard: shardOf(state.uniqueKey, rules.shards), wake_at: state.wakeAt }),
    ...(state.expireAt === null ? {} : { expire_at: state.expireAt }),
    state: w.done(),
    ids: state.ids,
    ...(state.claim === null ? {} : { claim: encodeClaim(state.claim) }),
  };
}

/** @throws TransientError unreadable_state for a document of a newer version, or a damaged one */
export function decodeState(document: Readonly<Record<string, unknown>>): State {
  const key = document['key'];
  return readStored(`the state of the key ${JSON.stringify(key)}`, document['v'], () => read(document));
}

function read(document: Readonly<Record<string, unknown>>): State {
  const number = (name: keyof StoredState): number => storedNumber(document, name);
  const optional = (name: keyof StoredState): number | null => (document[name] === undefined ? null : number(name));
  const uniqueKey = storedText(document, 'key');
  const ids = bytes(document, 'ids');
  const r = new Reader(bytes(document, 'state'));
  const state: State = {
    uniqueKey,
    generation: number('generation'),
    firstConfirmed: r.count(),
    revision: r.count(),
    finished: r.flag(),
    expiredAt: r.optional(() => r.integer()),
    uncoveredSince: r.optional(() => r.integer()),
    codaSince: r.optional(() => r.integer()),
    fold: readFold(r),
    ids,
    confirmed: number('confirmed'),
    lastSeen: number('last_seen'),
    claim: document['claim'] === undefined ? null : decodeClaim(uniqueKey, bytes(document, 'claim')),
    wakeAt: optional('wake_at'),
    attempts: number('attempts'),
    expireAt: optional('expire_at'),
  };
  r.end();
  if (number('version') !== state.fold.count) throw new Error('its version is not the number of its events');
  if (!Number.isInteger(countSeen(ids))) throw new Error('an id is cut off');
  return state;
}

function bytes(document: Readonly<Record<string, unknown>>, name: keyof StoredState): Uint8Array {
  const value = document[name];
  if (!(value instanceof Uint8Array)) throw new Error(`${name} is no byte string`);
  return value;
}
