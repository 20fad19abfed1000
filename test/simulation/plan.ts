import { random } from './choices.ts';
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
  | { readonly raw: string; readonly reason: string }
);

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
};

export const CODAS = ['completed', 'finished'];
const RAW: readonly { raw: string; reason: string }[] = [
  { raw: "{'unique_key': 'k1'}", reason: 'invalid_json' },
  { raw: '{"event_status":"started","timestamp":"2024-01-05T10:00:00Z"}', reason: 'missing_key' },
  { raw: '{"unique_key":"k1","event_status":"started","timestamp":"2001-01-01T00:00:00Z"}', reason: 'timestamp_out_of_range' }, // prettier-ignore
];

/** The plan of a seed. */
export function planOf(seed: number): Plan {
  const next = random(seed * 2 + 1);
  const below = (n: number) => Math.floor(next() * n);
  const chance = (p: number) => next() < p;
  const oneOf = <T>(items: readonly T[]): T => items[below(items.length)]!;
  const join = chance(0.3);
  const ttl = !join && chance(0.15);

  function ofKey(key: string): PlannedMessage[] {
    const steps = below(6);
    const numbered = chance(0.5);
    const codas = oneOf([0, 1, 1, 1, 1, 2]);
    const events: PlannedEvent[] = [];
    const details = () => ({
      ...(chance(0.5) ? { amount: below(200) / 2 - 20 } : {}),
      ...(join ? { joinKey: oneOf(['known', 'later', 'never']) } : {}),
      ...(chance(0.03) ? { refused: true as const } : {}),
    });
    for (let i = 1; i <= steps; i++) {
      if (numbered && chance(0.08)) continue;
      const sequence = numbered && !chance(0.05) ? { sequence: i } : {};
      events.push({ key, id: `e${i}`, status: 'started', time: below(5) * 250, ...sequence, ...details() });
    }
    for (let i = 1; i <= codas; i++) {
      const sequence = numbered ? { sequence: steps + (chance(0.8) ? 1 : i) } : {};
      events.push({ key, id: `z${i}`, status: oneOf(CODAS), time: 1000 + below(4) * 250, ...sequence, ...details() });
    }
    const late = ttl ? 3 * 3_600_000 : oneOf([0, 0, 30_000, 130_000, 600_000, 1_500_000]);
    return events.flatMap((event) => {
      const at = below(4) * 500 + (chance(0.2) ? late : 0);
      const message: PlannedMessage = { at, event };
      const again: PlannedMessage = { at: at + oneOf([0, 100, 20_000, 400_000]), event };
      const other: PlannedMessage = { at: at + oneOf([0, 5_000]), event: { ...event, time: event.time + 1 } };
      return [message, ...(chance(0.15) ? [again] : []), ...(!join && !ttl && chance(0.04) ? [other] : [])];
    });
  }

  const keys = 1 + below(4);
  const messages = Array.from({ length: keys }, (_, i) => ofKey(`k${i + 1}`)).flat();
  if (chance(0.15)) messages.push({ at: below(3) * 1000, ...oneOf(RAW) });
  const instances = 1 + below(3);
  return {
    instances,
    settings: {
      ...(!ttl && chance(0.3) ? { STEPS_KEPT: '2', IDS_INLINE: oneOf(['0', '1', '1000']) } : {}),
      ...(ttl ? { STATE_RETENTION: '60m' } : {}),
    },
    messages: messages.sort((a, b) => a.at - b.at),
    join,
    skew: Array.from({ length: instances }, () => (chance(0.3) ? below(2000) - 1000 : 0)),
    faults: oneOf([0, 1, 2, 4, 8, 16, 32]),
    rate: oneOf([0.02, 0.05, 0.15, 0.3]),
    focus: chance(0.5)
      ? null
      : oneOf(
          join ? (['join', 'join', 'ingest', 'finish'] as const) : (['ingest', 'finish', 'finish', 'sweep'] as const),
        ),
    ttl,
  };
}
