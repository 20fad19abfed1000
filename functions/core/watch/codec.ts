import type { Micros } from '../event.ts';
import { shardOf } from '../ids.ts';
import { FORMAT, readStored, storedNumber, storedText } from '../stored.ts';
import type { OutcomeKind, WatchSpec } from './spec.ts';
import type { WatchState } from './state.ts';

/** A watch as a document; `spec` is the JSON text that tells two watches of one id apart. */
export type WatchDocument = Readonly<Record<string, string | number | boolean | null>>;

/** The same text for the same watch: its members are written in one order. */
export function encodeSpec(spec: WatchSpec): string {
  return JSON.stringify(spec, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

export function encodeWatch(state: WatchState, shards: number): WatchDocument {
  const { spec, outcome, wakeAt, expireAt, lastChecked, lastFound } = state;
  return {
    v: FORMAT,
    watch_id: spec.watchId,
    unique_key: spec.uniqueKey,
    spec: encodeSpec(spec),
    created: state.created,
    attempt: state.attempt,
    due: state.due,
    confirmed: state.confirmed,
    attempts: state.attempts,
    ...(outcome === null ? {} : { outcome: outcome.kind, outcome_at: outcome.at, reason: outcome.reason, answer: outcome.answer }), // prettier-ignore
    // Together, as in the state of a key: an index entry of a watch at rest would be paid for.
    ...(wakeAt === null ? {} : { shard: shardOf(spec.watchId, shards), wake_at: wakeAt }),
    ...(expireAt === null ? {} : { expire_at: expireAt }),
    ...(lastChecked === null ? {} : { last_checked: lastChecked }),
    ...(lastFound === null ? {} : { last_found: lastFound }),
  };
}

/** @throws TransientError unreadable_state for a document of a newer version, or a damaged one */
export function decodeWatchDocument(document: Readonly<Record<string, unknown>>): WatchState {
  // The first watches were stored without a version.
  const what = `the watch ${JSON.stringify(document['watch_id'])}`;
  return readStored(what, document['v'] ?? FORMAT, () => read(document));
}

function read(document: Readonly<Record<string, unknown>>): WatchState {
  const number = (name: string): Micros => storedNumber(document, name);
  const maybe = (name: string): Micros | null => (document[name] == null ? null : number(name));
  const text = (name: string): string | null => (document[name] == null ? null : storedText(document, name));
  const kind = text('outcome') as OutcomeKind | null;
  return {
    spec: JSON.parse(storedText(document, 'spec')) as WatchSpec,
    created: number('created'),
    attempt: number('attempt'),
    due: number('due'),
    outcome: kind === null ? null : { kind, at: number('outcome_at'), reason: text('reason'), answer: text('answer') },
    confirmed: document['confirmed'] === true,
    wakeAt: maybe('wake_at'),
    attempts: number('attempts'),
    expireAt: maybe('expire_at'),
    lastChecked: maybe('last_checked'),
    lastFound: text('last_found'),
  };
}
