import type { Micros } from '../event.ts';
import type { OutcomeKind, WatchSpec } from './spec.ts';

/** How a watch ended. It is decided once, and everything that is published follows from it. */
export interface Outcome {
  readonly kind: OutcomeKind;
  readonly at: Micros;
  /** Why, when it is not ready. */
  readonly reason: string | null;
  /** JSON text of the answer that decided it; null when there is none or it is large. */
  readonly answer: string | null;
}

export interface WatchState {
  readonly spec: WatchSpec;
  /** Generation: a watch of the same id after this one is forgotten is another one. */
  readonly created: Micros;
  /** The attempt that may come next, from 1. What any other one finds is not taken. */
  readonly attempt: number;
  /** When that attempt is due. */
  readonly due: Micros;
  readonly outcome: Outcome | null;
  /** Whether the outcome's event is published. */
  readonly confirmed: boolean;
  /** When somebody looks again should no task come; null when there is nothing left to do. */
  readonly wakeAt: Micros | null;
  /** Wake-ups without progress. */
  readonly attempts: number;
  readonly expireAt: Micros | null;
  /** The last attempt that was taken, and what it found. */
  readonly lastChecked: Micros | null;
  readonly lastFound: string | null;
}

export interface WatchRules {
  /** A task that is this late counts as lost. */
  readonly slack: Micros;
  /** A decided watch is remembered this long. */
  readonly retention: Micros;
}
