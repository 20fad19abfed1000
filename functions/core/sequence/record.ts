import type { Event, Micros } from '../event.ts';
import { identityOf, type Identity } from '../ids.ts';
import { nextWake } from './due.ts';
import { addEvents } from './fold.ts';
import type { Rules } from './rules.ts';
import { addSeen, countSeen, findSeen, seenName } from './seen.ts';
import { newState, type State } from './state.ts';

/** What became of one event. */
export type Fate = { readonly kind: 'recorded' | 'repeated' } | { readonly kind: 'conflict'; readonly message: string };

/** The hash of status and time of each identity that has a document of its own, by the document's name. */
export type SeenDocuments = ReadonlyMap<string, number>;

export interface RecordedKey {
  readonly state: State;
  /** Whether the state differs from the one that was read. */
  readonly changed: boolean;
  /** In the order of the events. */
  readonly fates: readonly Fate[];
  /** Identities that need a document of their own. */
  readonly documents: SeenDocuments;
}

/** The state of a key before its first event, or as it was read. */
export function openState(known: State | null, uniqueKey: string, now: Micros): State {
  return known ?? newState(uniqueKey, now);
}

/** Names of the identity documents that must be read before these events can be recorded. */
export function documentsToRead(state: State, events: readonly Event[], rules: Rules): readonly string[] {
  const inline = countSeen(state.ids);
  const unknown = new Map<string, Identity>();
  for (const identity of events.map(identityOf)) {
    if (findSeen(state.ids, identity) === null) unknown.set(seenName(state.generation, identity), identity);
  }
  // Whoever is not inline may have a document, once there are any or some of these events need one.
  const possible = state.fold.count > inline || inline + unknown.size > rules.idsInline;
  return possible ? [...unknown.keys()] : [];
}

/**
 * Records events of one key, one after the other.
 *
 * @param state the key's state from `openState`
 * @param seen what the documents named by `documentsToRead` hold
 */
export function recordEvents(
  state: State,
  events: readonly Event[],
  seen: SeenDocuments,
  now: Micros,
  rules: Rules,
): RecordedKey {
  const documents = new Map<string, number>();
  const fates: Fate[] = [];
  const added: Event[] = [];
  let { ids } = state;
  for (const event of events) {
    const identity = identityOf(event);
    const name = seenName(state.generation, identity);
    const check = findSeen(ids, identity) ?? seen.get(name) ?? documents.get(name) ?? null;
    if (check !== null) {
      fates.push(check === identity.check ? { kind: 'repeated' } : conflict(event));
      continue;
    }
    if (countSeen(ids) < rules.idsInline) ids = addSeen(ids, identity);
    else documents.set(name, identity.check);
    added.push(event);
    fates.push({ kind: 'recorded' });
  }
  if (added.length === 0) return { state, changed: false, fates, documents };
  const isCoda = ({ eventStatus }: Event) => rules.completionStatuses.has(eventStatus);
  const next: State = {
    ...state,
    ids,
    fold: addEvents(state.fold, added, rules),
    codaSince: state.codaSince ?? (added.some(isCoda) ? now : null),
    lastSeen: Math.max(state.lastSeen, now),
    uncoveredSince: state.uncoveredSince ?? now,
    expireAt: null,
  };
  return { state: { ...next, wakeAt: earlierWake(next, now, rules) }, changed: true, fates, documents };
}

/** A wake-up that is still to come moves only earlier: most events then leave the index entry alone. */
function earlierWake(state: State, now: Micros, rules: Rules): Micros | null {
  const wanted = nextWake(state, now, rules);
  const { wakeAt } = state;
  if (wakeAt === null || wakeAt <= now || wanted === null) return wanted;
  return Math.min(wakeAt, wanted);
}

function conflict(event: Event): Fate {
  const id = JSON.stringify(event.eventId.slice(0, 100));
  return { kind: 'conflict', message: `event_id ${id} was recorded with another status or time` };
}
