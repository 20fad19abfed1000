import { random } from './choices.ts';
import type { Call } from './faults.ts';
import {
  CODAS,
  type Plan,
  type PlannedEvent,
  type PlannedMessage,
  type PlannedWatch,
  type SubmittedItem,
} from './plan.ts';

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
  /** Few delivery attempts, so that they are used up. */
  const impatient = !ttl && !join && chance(0.1);

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
      return [
        message,
        ...(chance(0.15) ? [again] : []),
        ...(!join && !ttl && !impatient && chance(0.04) ? [other] : []),
      ];
    });
  }

  /** A watch, what else is asked for under its id, and who cancels it. */
  function ofWatch(id: string): PlannedMessage[] {
    const interval = oneOf([10, 30, 90]);
    const timeout = oneOf([60, 300, 600]);
    const moment = () => oneOf([below(4) * 5, below(timeout), timeout + below(5) - 2, timeout * 2]) * 1000;
    const from = moment();
    const watch: PlannedWatch = {
      id,
      key: oneOf(['k1', 'k9']),
      probe: oneOf(['http', 'http', 'job']),
      readyAt: chance(0.7) ? moment() : null,
      interval,
      timeout,
      ...(chance(0.15) ? { lostAt: moment() } : {}),
      ...(chance(0.3) ? { trouble: [{ from, until: from + below(200) * 1000, as: oneOf(['busy', 'silent'] as const) }] } : {}), // prettier-ignore
      ...(chance(0.3) ? { backoff: 2 } : {}),
      ...(chance(0.5) ? { completes: true as const } : {}),
    };
    const at = below(3) * 1000;
    const by = () => oneOf(['message', 'post'] as const);
    const again = { at: at + oneOf([0, 100, 60_000, 600_000]), watch, by: by() };
    const other = { at: at + oneOf([0, 100]), watch: { ...watch, timeout: timeout + 1 }, by: by() };
    return [
      { at, watch, by: by() },
      ...(chance(0.2) ? [again] : []),
      ...(chance(0.1) ? [other] : []),
      ...(chance(0.25) ? [{ at: moment(), cancel: id }] : []),
    ];
  }

  /** Some of what would be published goes to `submit` instead, several in one request. */
  function asRequests(published: readonly PlannedMessage[]): PlannedMessage[] {
    const requests = new Map<number, SubmittedItem[]>();
    const rest = published.filter((planned) => {
      const fits = 'event' in planned || ('raw' in planned && planned.reason !== 'invalid_json');
      if (!fits || !chance(0.6)) return true;
      const items = requests.get(planned.at) ?? [];
      requests.set(planned.at, items);
      items.push('event' in planned ? { event: planned.event } : { raw: planned.raw, reason: planned.reason });
      return false;
    });
    const by = () => oneOf(['task', 'call'] as const);
    return [...rest, ...[...requests].map(([at, submit]) => ({ at, submit, by: by() }))];
  }

  const keys = 1 + below(4);
  let messages = Array.from({ length: keys }, (_, i) => ofKey(`k${i + 1}`)).flat();
  if (chance(0.15)) messages.push({ at: below(3) * 1000, ...oneOf(RAW) });
  const instances = 1 + below(3);
  const others = new Set<Call['entry']>();
  if (!ttl && chance(0.25)) {
    others.add('submit');
    messages = asRequests(messages);
    if (chance(0.1)) messages.push({ at: 0, submit: [RAW[0]!], by: oneOf(['task', 'call']) });
  }
  if (!ttl && !join && chance(0.35)) {
    others.add('poll');
    for (let i = 1 + below(3); i > 0; i--) messages.push(...ofWatch(`w${i}`));
  }
  return {
    instances,
    settings: {
      ...(!ttl && chance(0.3) ? { STEPS_KEPT: '2', IDS_INLINE: oneOf(['0', '1', '1000']) } : {}),
      ...(ttl ? { STATE_RETENTION: '60m' } : {}),
      ...(impatient ? { MAX_DELIVERY_ATTEMPTS: '5' } : {}),
    },
    messages: messages.sort((a, b) => a.at - b.at),
    join,
    skew: Array.from({ length: instances }, () => (chance(0.3) ? below(2000) - 1000 : 0)),
    faults: oneOf([0, 1, 2, 4, 8, 16, 32]),
    rate: oneOf([0.02, 0.05, 0.15, 0.3]),
    focus: chance(0.5)
      ? null
      : oneOf(
          join
            ? (['join', 'join', 'ingest', 'finish', ...others] as const)
            : (['ingest', 'finish', 'finish', 'sweep', ...others, ...others] as const),
        ),
    ttl,
  };
}
