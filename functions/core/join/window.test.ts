import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planWindow, type Situation } from './window.ts';

const MINUTE = 60e6;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const CLOCK = 1_790_000_000_000_000;

const base: Situation = {
  cursor: CLOCK - 2 * MINUTE,
  clock: CLOCK,
  created: CLOCK - 90 * DAY,
  start: 'now',
  lookback: 10 * MINUTE,
  step: 6 * HOUR,
  lag: MINUTE,
  timeTravel: 7 * DAY,
  margin: HOUR,
};

test('the first run starts now, less the lag', () => {
  assert.deepEqual(planWindow({ ...base, cursor: null }), { kind: 'first', position: CLOCK - MINUTE });
});

test('the first run from the earliest time starts inside time travel and not before the table', () => {
  const first = planWindow({ ...base, cursor: null, start: 'earliest' });
  assert.deepEqual(first, { kind: 'first', position: CLOCK - 7 * DAY + HOUR + 20 * MINUTE });
  assert.ok(first.kind === 'first');
  const next = planWindow({ ...base, cursor: first.position, clock: CLOCK + 5 * MINUTE });
  assert.equal(next.kind, 'catching_up', 'the window that follows is inside time travel still');
  const young = planWindow({ ...base, cursor: null, start: 'earliest', created: CLOCK - DAY });
  assert.deepEqual(young, { kind: 'first', position: CLOCK - DAY });
});

test('a normal run reads from the lookback to the clock less the lag', () => {
  const start = CLOCK - 12 * MINUTE;
  assert.deepEqual(planWindow(base), { kind: 'normal', start, end: CLOCK - MINUTE });
});

test('a long way to go is walked in capped steps', () => {
  const cursor = CLOCK - 2 * DAY;
  const expected = { kind: 'catching_up', start: cursor - 10 * MINUTE, end: cursor + 6 * HOUR };
  assert.deepEqual(planWindow({ ...base, cursor }), expected);
});

test('rows of the lookback that left time travel are scanned for: some of them may wait for their reference row', () => {
  const edge = CLOCK - 7 * DAY + HOUR;
  assert.equal(planWindow({ ...base, cursor: edge + 10 * MINUTE }).kind, 'catching_up');
  assert.equal(planWindow({ ...base, cursor: edge + 10 * MINUTE - 1 }).kind, 'too_old');
});

test('a cursor that left time travel scans the table', () => {
  const cursor = CLOCK - 8 * DAY;
  const from = cursor - 10 * MINUTE - HOUR;
  assert.deepEqual(planWindow({ ...base, cursor }), { kind: 'too_old', from, end: CLOCK - MINUTE });
});

const situations = fc.record({
  clock: fc.constant(CLOCK),
  age: fc.integer({ min: -10 * MINUTE, max: 20 * DAY }),
  tableAge: fc.integer({ min: 0, max: 30 * DAY }),
  lookback: fc.integer({ min: 0, max: 2 * DAY }),
  step: fc.integer({ min: 1, max: DAY }),
  lag: fc.integer({ min: 0, max: HOUR }),
  timeTravel: fc.integer({ min: 2 * DAY + 2 * HOUR, max: 7 * DAY }),
});

test('a window is inside time travel, begins at or before the cursor, ends past it and never past the clock less the lag', () => {
  fc.assert(
    fc.property(situations, (s) => {
      const cursor = s.clock - s.age;
      const situation: Situation = { ...s, cursor, created: s.clock - s.tableAge, start: 'now', margin: HOUR };
      const plan = planWindow(situation);
      if (plan.kind === 'idle') return assert.ok(Math.max(cursor, situation.created) >= s.clock - s.lag);
      if (plan.kind === 'first') return assert.fail('there is a cursor');
      assert.ok(plan.end > cursor && plan.end <= s.clock - s.lag);
      if (plan.kind === 'too_old') {
        assert.ok(cursor - s.lookback < s.clock - s.timeTravel + HOUR);
        return assert.ok(plan.from <= cursor - s.lookback);
      }
      // Nothing was committed before the table existed, so a window may begin there although the cursor is older.
      assert.ok(plan.start <= Math.max(cursor - s.lookback, situation.created));
      assert.ok(plan.start < plan.end);
      assert.ok(plan.start >= Math.max(situation.created, s.clock - s.timeTravel + HOUR));
      assert.ok(plan.end - Math.max(cursor, situation.created) <= s.step);
      assert.equal(plan.kind === 'catching_up', plan.end < s.clock - s.lag);
    }),
    { numRuns: 2000 },
  );
});

test('following the plans reads every commit time at least once and ends at the clock less the lag', () => {
  fc.assert(
    fc.property(situations, (s) => {
      let cursor = s.clock - s.age;
      const created = s.clock - s.tableAge;
      let covered = Math.max(cursor, created);
      for (let i = 0; i < 200; i++) {
        const plan = planWindow({ ...s, step: Math.max(s.step, HOUR), cursor, created, start: 'now', margin: HOUR });
        if (plan.kind === 'idle' || plan.kind === 'first') return;
        if (plan.kind !== 'too_old') assert.ok(plan.start <= covered, 'a hole');
        covered = Math.max(covered, plan.end);
        cursor = plan.end;
      }
      assert.ok(cursor < s.clock - s.lag, 'still more to do after 200 hours-long steps');
    }),
  );
});
