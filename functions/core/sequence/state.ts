import type { Micros, SummaryRow } from '../event.ts';
import { EMPTY_FOLD, type Fold } from './fold.ts';

/** The right to write one summary. Its content never changes; only `until` moves when somebody else takes it over. */
export interface Claim {
  /** Events that the row covers. */
  readonly version: number;
  readonly row: SummaryRow;
  readonly until: Micros;
}

/** Everything that is known about a key. All moments are times of arrival, never event times. */
export interface State {
  readonly uniqueKey: string;
  /** Creation time; tells a key from its former lives. */
  readonly generation: Micros;
  readonly fold: Fold;
  /** Ids seen, 20 bytes each: hash of the event id, hash of status and time. Further ids have documents of their own. */
  readonly ids: Uint8Array;
  /** Events that the last confirmed summary covers; the key's version is `fold.count`. */
  readonly confirmed: number;
  /** Events that the first confirmed summary covers; 0 when there is none. Later ones are late. */
  readonly firstConfirmed: number;
  /** Revisions claimed so far. */
  readonly revision: number;
  /** Whether a `finished` summary was confirmed. */
  readonly finished: boolean;
  /** When the last `expired` summary was confirmed. */
  readonly expiredAt: Micros | null;
  /** Arrival of the latest event. */
  readonly lastSeen: Micros;
  /** Arrival of the first event that neither a confirmed summary nor the claim covers. */
  readonly uncoveredSince: Micros | null;
  /** Arrival of the first completion event. */
  readonly codaSince: Micros | null;
  readonly claim: Claim | null;
  /** When `sweep` has to look at this key. */
  readonly wakeAt: Micros | null;
  /** Wake-ups without progress. */
  readonly attempts: number;
  /** When the state may be deleted; only while everything is covered. */
  readonly expireAt: Micros | null;
}

export function newState(uniqueKey: string, now: Micros): State {
  return {
    uniqueKey,
    generation: now,
    fold: EMPTY_FOLD,
    ids: new Uint8Array(0),
    confirmed: 0,
    firstConfirmed: 0,
    revision: 0,
    finished: false,
    expiredAt: null,
    lastSeen: now,
    uncoveredSince: null,
    codaSince: null,
    claim: null,
    wakeAt: null,
    attempts: 0,
    expireAt: null,
  };
}
