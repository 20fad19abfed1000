import type { Call } from './faults.ts';

/** What the producers publish, and the system that it meets. Everything is data, so that a plan can be kept and cut down. */
export interface Plan {
  readonly instances: number;
  /** Settings by their environment names, over those of `SETTINGS`. */
  readonly settings: Readonly<Record<string, string>>;
  readonly messages: readonly PlannedMessage[];
  /** Whether a join runs over the events. */
  readonly join: boolean;
  /** Clocks of the instances are off by this many milliseconds. */
  readonly skew: readonly number[];
  /** Faults that are left to meet, and the chance of one at a call. */
  readonly faults: number;
  readonly rate: number;
  /** The only function that meets faults; null is all of them. */
  readonly focus: Call['entry'] | null;
  /** Whether states are deleted when their time is over. */
  readonly ttl: boolean;
}

export type PlannedMessage = {
  /** Published so many virtual milliseconds after the start. */
  readonly at: number;
} & (
  | { readonly event: PlannedEvent }
  /** A message that can never succeed. */
  | PlannedRaw
  /** Somebody wants to be told when a thing is ready. */
  | { readonly watch: PlannedWatch; readonly by: 'message' | 'post' }
  | { readonly cancel: string }
  /** One request: a task of the user's own queue, or a call that is repeated until it is answered for good. */
  | { readonly submit: readonly SubmittedItem[]; readonly by: 'task' | 'call' }
);

export interface PlannedRaw {
  readonly raw: string;
  readonly reason: string;
}

export type SubmittedItem = { readonly event: PlannedEvent } | PlannedRaw;

export interface PlannedEvent {
  readonly key: string;
  readonly id: string;
  readonly status: string;
  /** Event time, milliseconds after the start of the simulation; may be negative. */
  readonly time: number;
  readonly sequence?: number;
  /** In halves, so that sums are exact. */
  readonly amount?: number;
  readonly joinKey?: string;
  /** The table of events refuses the row. */
  readonly refused?: true;
}

/** Times in milliseconds after the start of the simulation, durations in seconds. */
export interface PlannedWatch {
  readonly id: string;
  readonly key: string;
  readonly probe: 'http' | 'job';
  /** When the thing is ready; it stays so. Null is never. */
  readonly readyAt: number | null;
  /** When it is clear that it never will be. */
  readonly lostAt?: number;
  /** When looking at it fails. */
  readonly trouble?: readonly { readonly from: number; readonly until: number; readonly as: 'busy' | 'silent' }[];
  readonly interval: number;
  readonly backoff?: number;
  readonly timeout: number;
  /** Whether its readiness completes the key. */
  readonly completes?: true;
}

/** Short deadlines, so that every key ends within an hour of virtual time, and small bounds, so that they are met. */
export const SETTINGS: Readonly<Record<string, string>> = {
  PROJECT_ID: 'simulation',
  SUMMARY_FIELDS: '/amount',
  SILENCE_DEADLINE: '5m',
  AGE_DEADLINE: '20m',
  GRACE: '20s',
  SETTLE: '10s',
  SETTLE_MAX: '60s',
  IDS_INLINE: '2',
  WAKE_SHARDS: '2',
  SWEEP_PAGE: '2',
  GROUP_KEYS: '2',
  GROUP_EVENTS: '3',
  JOIN_PAGE: '2',
  PROBE_HOSTS: 'probe.example',
};

export const CODAS = ['completed', 'finished'];
