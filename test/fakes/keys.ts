import fc from 'fast-check';
import type { Event } from '../../functions/core/event.ts';
import { createRules, type Rules, type RuleSettings } from '../../functions/core/sequence/rules.ts';
import { START } from './clock.ts';

const MINUTE = 60e6;
const DAY = 86_400e6;

export const SETTINGS: RuleSettings = {
  completionStatuses: ['completed', 'finished'],
  summaryFields: ['/amount', '/deep/0/x'],
  silence: DAY,
  age: 30 * DAY,
  grace: MINUTE,
  settle: MINUTE / 2,
  settleMax: 10 * MINUTE,
  retention: 35 * DAY,
  claim: MINUTE,
  idsInline: 1000,
  stepsKept: 200,
  stepsBytes: 48 * 1024,
  shards: 16,
};

export function rulesWith(changes: Partial<RuleSettings> = {}): Rules {
  return createRules({ ...SETTINGS, ...changes });
}

/** An event of the key `k`, with what the test names. */
export function event(changes: Partial<Event> & { readonly eventId: string }): Event {
  return {
    uniqueKey: 'k',
    eventStatus: 'started',
    eventTime: START,
    joinKey: null,
    sequence: null,
    payload: null,
    extra: null,
    normalised: false,
    ...changes,
  };
}

const amount = fc.oneof(
  fc.constantFrom('1', '1.50', '-0', '1e3', '-2.5E-3', '1e38', '1e39', '1e-38', '1e-39', 'null', 'true', '"text"'),
  fc.integer({ min: -1e6, max: 1e6 }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => JSON.stringify(n)),
  fc.constant(JSON.stringify('x'.repeat(1100))),
);

const payload = fc.option(
  fc.record({ amount, x: amount }).map(({ amount: a, x }) => `{ "amount" :${a}, "deep":[{"x": ${x} }, 1]}`),
);

/** Any event of the key `k`; few times, so that ties are common. */
export const anyEvent: fc.Arbitrary<Event> = fc
  .record({
    eventId: fc.oneof(fc.string({ maxLength: 4, minLength: 1 }), fc.string({ unit: 'grapheme', minLength: 1 })),
    eventStatus: fc.constantFrom('started', 'processing', 'completed', 'finished', 'Completed '),
    eventTime: fc.integer({ min: 0, max: 5 }).map((n) => START + n * 333_333),
    sequence: fc.option(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(1_000_000, 1_000_001, 2 ** 50))),
    payload,
  })
  .map(event);

/** A set of events of one key: no two with one id. */
export function eventSet(maxLength = 30): fc.Arbitrary<Event[]> {
  return fc.uniqueArray(anyEvent, { selector: (one) => one.eventId, maxLength, minLength: 1 });
}

/** The same events in some order, each at least once, cut into groups. */
export function arrivalOf(events: readonly Event[]): fc.Arbitrary<Event[][]> {
  return fc
    .record({
      repeats: fc.array(fc.constantFrom(...events), { maxLength: 10 }),
      seed: fc.array(fc.nat(), { minLength: events.length + 10, maxLength: events.length + 10 }),
      size: fc.integer({ min: 1, max: 7 }),
    })
    .map(({ repeats, seed, size }) => {
      const all = [...events, ...repeats].map((one, i) => ({ one, rank: seed[i]! }));
      const shuffled = all.sort((a, b) => a.rank - b.rank).map(({ one }) => one);
      return Array.from({ length: Math.ceil(shuffled.length / size) }, (_, i) =>
        shuffled.slice(i * size, (i + 1) * size),
      );
    });
}
