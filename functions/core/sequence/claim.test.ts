import fc from 'fast-check';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { START } from '../../../test/fakes/clock.ts';
import { event, eventSet, rulesWith } from '../../../test/fakes/keys.ts';
import type { Event, Micros, SummaryRow } from '../event.ts';
import { claimSummary, confirmSummary } from './claim.ts';
import { decodeState, encodeState } from './codec.ts';
import { backoff, dueAt } from './due.ts';
import { openState, recordEvents } from './record.ts';
import type { Claim, State } from './state.ts';

const SECOND = 1e6;
const MINUTE = 60e6;
const DAY = 86_400e6;
const rules = rulesWith();

/** One key, its instances and its clock, on the pure core. */
class Key {
  state: State | null = null;
  now: Micros = START;
  /** Claims that instances hold, live or not. */
  readonly held: Claim[] = [];
  readonly rows = new Map<number, SummaryRow>();

  record(...events: Event[]): void {
    const recorded = recordEvents(openState(this.state, 'k', this.now), events, new Map(), this.now, rules);
    // A repeat commits nothing: where sweep has pushed the wake-up back, it stays there.
    if (recorded.changed) this.#commit(recorded.state);
  }

  claim(): 'claimed' | 'busy' | 'idle' {
    if (this.state === null) return 'idle';
    const claimed = claimSummary(this.state, this.now, rules);
    this.#commit(claimed.state);
    if (claimed.kind === 'claimed') {
      assert.ok(this.state.wakeAt! > this.now, 'it would be woken at once');
      this.held.push(claimed.claim);
      const known = this.rows.get(claimed.claim.row.revision);
      if (known !== undefined) assert.deepEqual(claimed.claim.row, known, 'a revision has one content for ever');
      this.rows.set(claimed.claim.row.revision, claimed.claim.row);
    }
    return claimed.kind;
  }

  confirm(claim: Claim): 'confirmed' | 'gone' {
    const before = this.state!.confirmed;
    const confirmed = confirmSummary(this.state!, claim, this.now, rules);
    if (confirmed.kind === 'confirmed') {
      this.#commit(confirmed.state);
      assert.equal(this.state!.confirmed, claim.version);
      assert.ok(claim.version > before);
    }
    return confirmed.kind;
  }

  /** Claims, writes and confirms like an instance without a fault. */
  finish(): SummaryRow {
    assert.equal(this.claim(), 'claimed');
    const claim = this.held.at(-1)!;
    assert.equal(this.confirm(claim), 'confirmed');
    return claim.row;
  }

  /** What sweep does with a due wake-up. */
  sweep(): void {
    const { state } = this;
    if (state === null || state.wakeAt === null || state.wakeAt > this.now) return;
    this.state = { ...state, wakeAt: this.now + backoff(state.attempts), attempts: state.attempts + 1 };
  }

  /** Stores a state, and holds it to what every commit promises. */
  #commit(state: State): void {
    const { now } = this;
    if (state.fold.count > state.confirmed) {
      const due = dueAt(state, rules)!;
      assert.ok(state.wakeAt !== null, 'uncovered events without a wake-up');
      assert.ok(state.wakeAt <= (due <= now ? now + MINUTE : due), 'the wake-up is too late');
      assert.equal(state.expireAt, null, 'uncovered events would expire');
    } else {
      assert.equal(state.claim, null);
      assert.equal(state.wakeAt, null);
      assert.ok(state.expireAt !== null);
    }
    this.state = decodeState({ ...encodeState(state, rules) });
    assert.deepEqual(
      { ...this.state, ids: Buffer.from(this.state.ids) },
      { ...state, ids: Buffer.from(state.ids) },
      'the stored form loses nothing',
    );
  }
}

const started = event({ eventId: 'a' });
const completed = event({ eventId: 'z', eventStatus: 'completed', eventTime: START + 5 });

describe('when a summary is due', () => {
  it('at once for a completed key', () => {
    const key = new Key();
    key.record(started, completed);
    const row = key.finish();
    assert.deepEqual([row.state, row.complete, row.total_steps, row.revision], ['finished', true, 2, 1]);
    assert.equal(key.state!.expireAt, key.now + rules.retention);
    assert.equal(key.claim(), 'idle');
  });

  it('after the grace while numbers are missing, at once when they have come', () => {
    const missing = new Key();
    missing.record({ ...completed, sequence: 2 });
    assert.equal(missing.state!.wakeAt, START + rules.grace);
    missing.now += rules.grace - 1;
    assert.equal(missing.claim(), 'idle');
    missing.now += 1;
    assert.equal(missing.finish().complete, false);

    const found = new Key();
    found.record({ ...completed, sequence: 2 });
    found.now += SECOND;
    found.record({ ...started, sequence: 1 });
    assert.equal(found.finish().complete, true);
  });

  it('for a silent key when its deadline is over, counted from arrival, not from event time', () => {
    const key = new Key();
    key.record(event({ eventId: 'old', eventTime: START - 900 * DAY }));
    assert.equal(key.claim(), 'idle');
    key.now += DAY / 2;
    key.record(event({ eventId: 'b' }));
    assert.equal(key.state!.wakeAt, START + DAY, 'a wake-up only moves earlier');
    key.now = START + DAY;
    assert.equal(key.claim(), 'idle');
    assert.equal(key.state!.wakeAt, START + 1.5 * DAY, 'finish sets it exactly');
    key.now = START + 1.5 * DAY;
    assert.equal(key.finish().state, 'expired');
  });

  it('for a key that never falls silent by its age, and again by its age since then', () => {
    const key = new Key();
    const rows: SummaryRow[] = [];
    for (let hour = 0; hour <= 61 * 24; hour += 8) {
      key.now = START + hour * 3600e6;
      key.record(event({ eventId: `e${hour}` }));
      if (key.claim() === 'claimed') {
        rows.push(key.held.at(-1)!.row);
        assert.equal(key.confirm(key.held.at(-1)!), 'confirmed');
      }
      key.now += 40 * SECOND;
      if (key.claim() === 'claimed') {
        rows.push(key.held.at(-1)!.row);
        assert.equal(key.confirm(key.held.at(-1)!), 'confirmed');
      }
    }
    assert.deepEqual(
      rows.map(({ state, revision }) => [state, revision]),
      [
        ['expired', 1],
        ['expired', 2],
      ],
    );
    assert.equal(rows[0]!.written_at, START + 30 * DAY);
    assert.ok(rows[1]!.written_at >= START + 60 * DAY);
  });

  it('at once for a completion after the key expired', () => {
    const key = new Key();
    key.record(started);
    key.now += DAY;
    assert.equal(key.finish().state, 'expired');
    key.now += DAY;
    key.record(completed);
    const row = key.finish();
    assert.deepEqual([row.state, row.revision, row.late_events, row.total_steps], ['finished', 2, 1, 2]);
  });

  it('for a correction when no event came for a while, but not for ever', () => {
    const key = new Key();
    key.record(started, completed);
    key.finish();
    const first = (key.now += DAY);
    for (let i = 0; key.now < first + rules.settleMax; i++, key.now += 20 * SECOND) {
      key.record(event({ eventId: `late${i}` }));
      assert.equal(key.claim(), 'idle');
    }
    assert.equal(key.now, first + rules.settleMax);
    const row = key.finish();
    assert.deepEqual([row.state, row.revision, row.late_events], ['finished', 2, 30]);
    key.now += SECOND;
    key.record(event({ eventId: 'later' }));
    key.now += rules.settle - 1;
    assert.equal(key.claim(), 'idle');
    key.now += 1;
    assert.equal(key.finish().late_events, 31);
  });
});

describe('a claim', () => {
  it('is held by one, taken over unchanged when it expires, and confirmed once', () => {
    const key = new Key();
    key.record(started, completed);
    assert.equal(key.claim(), 'claimed');
    assert.equal(key.claim(), 'busy');
    key.record(event({ eventId: 'b' }));
    key.now += rules.claim;
    assert.equal(key.claim(), 'claimed');
    const [mine, theirs] = key.held;
    assert.deepEqual(theirs!.row, mine!.row);
    assert.equal(key.confirm(mine!), 'confirmed');
    assert.equal(key.confirm(theirs!), 'gone');
    assert.equal(key.state!.confirmed, 2);
    assert.equal(key.state!.fold.count, 3);
  });

  it('leaves a wake-up alone that comes before its end, unless sweep has woken the key', () => {
    const hinted = new Key();
    hinted.record(completed);
    const wakeAt = hinted.state!.wakeAt!;
    hinted.now += SECOND;
    assert.equal(hinted.claim(), 'claimed');
    assert.equal(hinted.state!.wakeAt, wakeAt, 'moving its index entry costs');

    const late = new Key();
    late.record(completed);
    late.now = late.state!.wakeAt!;
    assert.equal(late.claim(), 'claimed');
    assert.equal(late.state!.wakeAt, late.now + rules.claim, 'it had come already');

    const { state } = hinted;
    const short = claimSummary({ ...state!, claim: null }, hinted.now, rulesWith({ claim: 10 * SECOND }));
    assert.equal(short.state.wakeAt, hinted.now + 10 * SECOND, 'never after its end');

    const woken = new Key();
    woken.record(completed);
    woken.now = woken.state!.wakeAt!;
    woken.sweep();
    woken.now += SECOND;
    assert.equal(woken.claim(), 'claimed');
    assert.equal(woken.state!.wakeAt, woken.now + rules.claim);
  });

  it('whose owner died is taken over at its end, also when it was looked for before', () => {
    const key = new Key();
    key.record(completed);
    key.now += 5 * SECOND;
    key.claim();
    const { until } = key.held[0]!;
    assert.ok(key.state!.wakeAt! < until);
    key.now = key.state!.wakeAt!;
    key.sweep();
    assert.equal(key.claim(), 'busy');
    assert.equal(key.state!.wakeAt, until, 'not a minute later');
    key.now = until;
    key.sweep();
    assert.equal(key.claim(), 'claimed');
    assert.equal(key.confirm(key.held.at(-1)!), 'confirmed');
  });

  it('of a former life or another revision confirms nothing', () => {
    const key = new Key();
    key.record(started, completed);
    key.claim();
    const old = key.held[0]!;
    const reborn = new Key();
    reborn.now += 40 * DAY;
    reborn.record(completed);
    reborn.claim();
    assert.equal(reborn.confirm(old), 'gone');
  });

  it('lasts longer after wake-ups without progress, at most an hour', () => {
    const key = new Key();
    key.record(completed);
    const waits: number[] = [];
    for (let i = 0; i < 10; i++) {
      assert.equal(key.claim(), 'claimed');
      waits.push((key.state!.wakeAt! - key.now) / MINUTE);
      key.now = key.state!.wakeAt!;
      key.sweep();
    }
    assert.deepEqual(waits, [1, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });
});

describe('any interleaving', () => {
  type Step = readonly ['record' | 'claim' | 'confirm' | 'sweep' | 'wait', number];
  const step: fc.Arbitrary<Step> = fc.tuple(fc.constantFrom('record', 'claim', 'confirm', 'sweep', 'wait'), fc.nat());
  const waits = [SECOND, 20 * SECOND, MINUTE, 5 * MINUTE, 3600e6, DAY, 31 * DAY];

  it('keeps a wake-up while events are uncovered, and covers them all in the end', () => {
    fc.assert(
      fc.property(eventSet(15), fc.array(step, { maxLength: 60 }), (events, steps) => {
        const key = new Key();
        key.record(events[0]!);
        for (const [what, n] of steps) {
          if (what === 'record') key.record(events[n % events.length]!);
          else if (what === 'claim') key.claim();
          else if (what === 'confirm' && key.held.length > 0) key.confirm(key.held[n % key.held.length]!);
          else if (what === 'sweep') key.sweep();
          else if (what === 'wait') key.now += waits[n % waits.length]!;
        }
        key.record(...events);
        // From here on nothing happens but wake-ups.
        let rounds = 0;
        while (key.state!.wakeAt !== null) {
          assert.ok(rounds++ < 50, 'no end');
          key.now = Math.max(key.now, key.state!.wakeAt);
          key.sweep();
          if (key.claim() === 'claimed') key.confirm(key.held.at(-1)!);
        }
        assert.equal(key.state!.confirmed, events.length);
        const last = key.rows.get(key.state!.revision)!;
        assert.equal(last.total_steps, events.length);
        assert.equal(
          last.state,
          events.some((one) => rules.completionStatuses.has(one.eventStatus)) ? 'finished' : 'expired',
        );
      }),
      { numRuns: 500 },
    );
  });
});
