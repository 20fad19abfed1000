import fc from 'fast-check';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { START } from '../../../test/fakes/clock.ts';
import { arrivalOf, event, eventSet, rulesWith } from '../../../test/fakes/keys.ts';
import type { Event, SummaryRow } from '../event.ts';
import { addEvents, EMPTY_FOLD, isComplete } from './fold.ts';
import { documentsToRead, openState, recordEvents } from './record.ts';
import type { Rules } from './rules.ts';
import type { State } from './state.ts';
import { summarise } from './summary.ts';

/** The summary computed directly from the set of events, by other means than the product's. */
function naive(events: readonly Event[], rules: Rules): Partial<SummaryRow> {
  const bytesOf = (text: string) => Buffer.from(text);
  const sorted = [...events].sort(
    (a, b) => a.eventTime - b.eventTime || Buffer.compare(bytesOf(a.eventId), bytesOf(b.eventId)),
  );
  const codas = sorted.filter((one) => rules.completionStatuses.has(one.eventStatus));
  const coda = codas.at(-1);
  const numbers = new Set(events.flatMap((one) => (one.sequence === null ? [] : [one.sequence])));
  const totals = codas.flatMap((one) => (one.sequence === null ? [] : [one.sequence]));
  const total = Math.max(...(totals.length > 0 ? totals : numbers));
  let steps = sorted.slice(0, rules.stepsKept);
  const size = (list: readonly Event[]) =>
    list.reduce((sum, one) => sum + bytesOf(one.eventId).length + bytesOf(one.eventStatus).length + 16, 0);
  while (size(steps) > rules.stepsBytes) steps = steps.slice(0, -1);
  const exact = numbers.size === 0 || (total <= 1e6 && numbers.size === total && [...numbers].every((n) => n <= total));
  return {
    state: coda === undefined ? 'expired' : 'finished',
    complete: coda !== undefined && exact,
    final_status: coda?.eventStatus ?? null,
    total_steps: events.length,
    start_time: Math.min(...events.map((one) => one.eventTime)),
    finish_time: coda?.eventTime ?? null,
    last_event_time: Math.max(...events.map((one) => one.eventTime)),
    steps: steps.map((one) => ({
      event_id: one.eventId,
      event_status: one.eventStatus,
      event_time: one.eventTime,
    })),
  };
}

/** Records groups of events as they arrive, a second apart. */
function arrive(groups: readonly (readonly Event[])[], rules: Rules): State {
  const seen = new Map<string, number>();
  let state: State | null = null;
  let now = START;
  for (const group of groups) {
    now += 1e6;
    const opened = openState(state, 'k', now);
    const known = new Map(
      documentsToRead(opened, group, rules).flatMap((name) => {
        const check = seen.get(name);
        return check === undefined ? [] : [[name, check] as const];
      }),
    );
    const recorded = recordEvents(opened, group, known, now, rules);
    for (const [name, check] of recorded.documents) seen.set(name, check);
    state = recorded.state;
  }
  return state!;
}

const cases = eventSet().chain((events) =>
  fc.record({
    events: fc.constant(events),
    one: arrivalOf(events),
    other: arrivalOf(events),
    rules: fc
      .record({
        idsInline: fc.constantFrom(0, 3, 1000),
        stepsKept: fc.constantFrom(0, 1, 4, 200),
        stepsBytes: fc.constantFrom(0, 60, 200, 48 * 1024),
      })
      .map(rulesWith),
  }),
);

describe('the fold of a key', () => {
  it('depends on the set of events alone, not on their order, repetition or grouping', () => {
    fc.assert(
      fc.property(cases, ({ one, other, rules }) => {
        assert.deepEqual(arrive(one, rules).fold, arrive(other, rules).fold);
      }),
      { numRuns: 300 },
    );
  });

  it('gives the summary that the set of events has', () => {
    fc.assert(
      fc.property(cases, ({ events, one, rules }) => {
        const row = summarise(arrive(one, rules), 1, START, rules);
        const expected = naive(events, rules);
        const actual = Object.fromEntries(Object.keys(expected).map((name) => [name, row[name as keyof SummaryRow]]));
        assert.deepEqual(actual, expected);
      }),
      { numRuns: 300 },
    );
  });

  it('adds decimals exactly, and counts what it cannot add', () => {
    const payloads = ['0.1', '0.2', '1e-38', '-99999999999999999999', '"12"', '1e39', `"${'x'.repeat(1100)}"`, 'null'];
    const events = payloads.map((value, i) =>
      event({ eventId: `e${i}`, eventTime: START + i, payload: `{"amount":${value}}` }),
    );
    const row = summarise(arrive([events], rulesWith()), 1, START, rulesWith());
    assert.equal(
      row.fields,
      '{"/amount":{"count":4,"sum":-99999999999999999998.69999999999999999999999999999999999999,' +
        '"min":-99999999999999999999,"max":0.2,"first":0.1,"last":"12","skipped":2}}',
    );
  });

  it('has no fields column when none is configured, and an empty one when none was seen', () => {
    const state = arrive([[event({ eventId: 'a' })]], rulesWith());
    assert.equal(summarise(state, 1, START, rulesWith()).fields, '{}');
    assert.equal(summarise(state, 1, START, rulesWith({ summaryFields: [] })).fields, null);
  });

  it('counts the first start and the latest completion', () => {
    const row = summarise(
      arrive(
        [
          [
            event({ eventId: 'e-3', eventStatus: 'completed', eventTime: START + 3600e6 }),
            event({ eventId: 'e-2', eventTime: START + 1800e6 }),
            event({ eventId: 'e-1' }),
          ],
        ],
        rulesWith(),
      ),
      1,
      START,
      rulesWith(),
    );
    assert.equal(row.duration_seconds, 3600);
  });
});

describe('completeness', () => {
  const fold = (...events: readonly [status: string, sequence: number | null][]) =>
    addEvents(
      EMPTY_FOLD,
      events.map(([eventStatus, sequence], i) => event({ eventId: `e${i}`, eventStatus, sequence })),
      rulesWith(),
    );

  it('is the completion event alone where there are no numbers', () => {
    assert.equal(isComplete(fold(['started', null])), false);
    assert.equal(isComplete(fold(['started', null], ['completed', null])), true);
  });

  it('is exactly 1..N where there are, N from the completion event', () => {
    assert.equal(isComplete(fold(['started', 1], ['completed', 3])), false);
    assert.equal(isComplete(fold(['started', 1], ['completed', 3], ['started', 2])), true);
    assert.equal(isComplete(fold(['started', 1], ['completed', 2], ['started', 3])), false);
    assert.equal(isComplete(fold(['completed', 2], ['completed', 3], ['started', 1])), true);
  });

  it('is no gap where the completion event has no number', () => {
    assert.equal(isComplete(fold(['started', 1], ['completed', null])), true);
    assert.equal(isComplete(fold(['started', 1], ['started', 3], ['completed', null])), false);
  });

  it('is never claimed with a number beyond what is kept', () => {
    assert.equal(isComplete(fold(['completed', 1_000_001])), false);
    assert.equal(isComplete(fold(['completed', 1], ['started', 1_000_001])), false);
  });
});
