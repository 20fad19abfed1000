import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Event, Micros } from '../../functions/core/event.ts';
import { claimSummary, confirmSummary, type Claimed } from '../../functions/core/sequence/claim.ts';
import { openState, recordEvents } from '../../functions/core/sequence/record.ts';
import type { State } from '../../functions/core/sequence/state.ts';
import { decodeWatch } from '../../functions/core/watch/spec.ts';
import { createWatch, deadline, recordAttempt } from '../../functions/core/watch/watch.ts';
import { START } from '../fakes/clock.ts';
import { event, rulesWith } from '../fakes/keys.ts';

/** What docs/timers.md says about clocks that are wrong: instances with clocks of their own, one state. */

const MINUTE = 60e6;
const DAY = 86_400e6;
const rules = rulesWith();

const record = (state: State | null, now: Micros, ...events: Event[]): State =>
  recordEvents(openState(state, 'k', now), events, new Map(), now, rules).state;

function claimed(result: Claimed): Extract<Claimed, { kind: 'claimed' }> {
  assert.equal(result.kind, 'claimed');
  return result;
}

describe("a function's clock", () => {
  test('that is ahead takes over a claim that is alive: both write one row, one of them confirms it', () => {
    const open = record(null, START, event({ eventId: 'a', eventStatus: 'completed' }));
    const first = claimed(claimSummary(open, START, rules));
    const ahead = claimed(claimSummary(first.state, START + 2 * MINUTE, rules));
    assert.deepEqual(ahead.claim.row, first.claim.row);
    const confirmed = confirmSummary(ahead.state, first.claim, START, rules);
    assert.ok(confirmed.kind === 'confirmed');
    assert.equal(confirmed.state.revision, 1);
    assert.equal(confirmSummary(confirmed.state, ahead.claim, START + 2 * MINUTE, rules).kind, 'gone');
  });

  test('that is ahead delays the silence of a key, and one that is behind never moves the arrival back', () => {
    const ahead = record(null, START, event({ eventId: 'a' }));
    const seen = record(ahead, START + MINUTE, event({ eventId: 'b' }));
    const behind = record(seen, START - DAY, event({ eventId: 'c' }));
    assert.equal(behind.lastSeen, START + MINUTE);
    assert.equal(claimSummary(behind, START + DAY, rules).kind, 'idle');
    assert.equal(claimSummary(behind, START + MINUTE + DAY, rules).kind, 'claimed');
  });

  test('that is behind finds nothing due, and leaves the exact moment', () => {
    const open = record(null, START, event({ eventId: 'a' }));
    const woken = { ...open, wakeAt: START + 2 * DAY, attempts: 3 };
    const looked = claimSummary(woken, START + DAY - MINUTE, rules);
    assert.equal(looked.kind, 'idle');
    assert.equal(looked.state.wakeAt, START + DAY);
    assert.equal(looked.state.attempts, 0);
  });

  test('that is behind opens a key that expires earlier by as much', () => {
    const open = record(null, START - MINUTE, event({ eventId: 'a' }));
    assert.equal(claimSummary(open, START + DAY - MINUTE, rules).kind, 'claimed');
  });
});

describe("a producer's clock", () => {
  const before = event({ eventId: 'a', eventTime: START });
  const after = event({ eventId: 'b', eventStatus: 'completed', eventTime: START - 300 * DAY });

  test('moves steps and durations, never a deadline, a count or completeness', () => {
    const state = record(record(null, START, before), START, after);
    const { row } = claimed(claimSummary(state, START, rules)).claim;
    assert.deepEqual(row.steps.map(({ event_id: id }) => id), ['b', 'a']); // prettier-ignore
    assert.deepEqual([row.total_steps, row.complete, row.finish_time], [2, true, START - 300 * DAY]);
    assert.equal(row.duration_seconds, 0);
  });

  test('that made a timestamp anew for a retry makes a conflict of it', () => {
    const state = record(null, START, before);
    const again = recordEvents(state, [{ ...before, eventTime: START + 1 }], new Map(), START, rules);
    assert.deepEqual(again.fates.map(({ kind }) => kind), ['conflict']); // prettier-ignore
    assert.equal(again.changed, false);
  });
});

describe('deadlines', () => {
  test('a repeat counts for none of them', () => {
    const state = record(null, START, event({ eventId: 'a' }));
    assert.equal(record(state, START + DAY / 2, event({ eventId: 'a' })).lastSeen, START);
  });

  test('a key that expired and speaks again waits for silence again', () => {
    const expiring = claimed(claimSummary(record(null, START, event({ eventId: 'a' })), START + DAY, rules));
    const confirmed = confirmSummary(expiring.state, expiring.claim, START + DAY, rules);
    assert.ok(confirmed.kind === 'confirmed');
    const state = record(confirmed.state, START + 2 * DAY, event({ eventId: 'b' }));
    assert.equal(state.wakeAt, START + 3 * DAY);
  });

  test('the last look at a watch ends it, also when its task or its clock is early', () => {
    const watch = { watch_id: 'w', unique_key: 'k', probe: { type: 'bigquery_job', job_id: 'j' }, timeout: '10m' };
    const watchRules = { slack: 2 * MINUTE, retention: 35 * DAY };
    const { state } = createWatch(null, decodeWatch(watch), START, watchRules);
    const last = { ...state, attempt: 9, due: deadline(state) };
    const early = deadline(state) - MINUTE;
    const ended = recordAttempt(last, 9, { kind: 'pending', note: 'not yet' }, early, early, watchRules);
    assert.equal(ended?.outcome?.kind, 'timed_out');
    assert.equal(recordAttempt(ended, 9, { kind: 'ready', answer: null }, early, early, watchRules), null);
  });
});
