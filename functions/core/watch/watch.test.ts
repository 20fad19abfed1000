import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { START } from '../../../test/fakes/clock.ts';
import { decode } from '../decode/decode.ts';
import { acceptedRange } from '../time.ts';
import { decodeWatchDocument, encodeSpec, encodeWatch } from './codec.ts';
import { outcomeEvent } from './event.ts';
import { decodeWatch } from './spec.ts';
import type { WatchRules, WatchState } from './state.ts';
import {
  cancelWatch,
  confirmOutcome,
  createWatch,
  deadline,
  outcomeEventId,
  pause,
  recordAttempt,
  taskName,
  type Found,
} from './watch.ts';

const MINUTE = 60e6;
const RULES: WatchRules = { slack: 2 * MINUTE, retention: 35 * 86_400e6 };
const NAMES = { unique_key: 'unique_key', event_status: 'event_status', timestamp: 'timestamp', event_id: 'event_id', payload: 'payload' }; // prettier-ignore

const given = (changes: object = {}) => ({
  watch_id: 'w',
  unique_key: 'k',
  probe: { type: 'http', url: 'https://api.example.com/x', ready: { pointer: '/status', equals: 'done' } },
  interval: '10s',
  backoff: 2,
  max_interval: '1m',
  timeout: '10m',
  ...changes,
});
const spec = (changes: object = {}) => decodeWatch(given(changes));
const fresh = (changes: object = {}) => createWatch(null, spec(changes), START, RULES).state;

const found: fc.Arbitrary<Found> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Found>({ kind: 'pending', note: 'not yet' }) },
  { weight: 1, arbitrary: fc.constant<Found>({ kind: 'ready', answer: '{"status":"done"}' }) },
  { weight: 1, arbitrary: fc.constant<Found>({ kind: 'failed', reason: 'broken', answer: null }) },
);

/** Something that happens to a watch: an attempt of any number, at any time later; a cancellation; a publication. */
const step = fc.record({
  action: fc.oneof({ weight: 8, arbitrary: fc.constant('attempt' as const) }, { weight: 1, arbitrary: fc.constantFrom('cancel' as const, 'confirm' as const) }), // prettier-ignore
  /** Of the attempts that were ever armed, the last of which is the next one. */
  back: fc.nat({ max: 3 }),
  later: fc.integer({ min: 0, max: 90 }).map((seconds) => seconds * 1e6),
  found,
});

function apply(state: WatchState, one: typeof step extends fc.Arbitrary<infer T> ? T : never, now: number) {
  if (one.action === 'cancel') return cancelWatch(state, now);
  if (one.action === 'confirm') return confirmOutcome(state, now, RULES);
  return recordAttempt(state, state.attempt - one.back, one.found, now, now, RULES);
}

describe('a watch under any order of attempts, repeats, cancellations and publications', () => {
  test('a chain cannot fork, one outcome is decided, what is live is woken', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state = fresh();
        let now = START;
        /** Attempts that were taken: each at most once. */
        const taken = new Set<number>();
        for (const one of steps) {
          now += one.later;
          const next = apply(state, one, now);
          if (next === null) continue;
          if (one.action === 'attempt') {
            const number = state.attempt - one.back;
            assert.ok(!taken.has(number), `attempt ${number} was taken twice`);
            assert.equal(one.back, 0);
            taken.add(number);
          }
          if (state.outcome !== null) assert.deepEqual(next.outcome, state.outcome, 'the outcome changed');
          assert.equal(outcomeEventId(next), outcomeEventId(state));
          if (state.outcome !== null) assert.equal(outcomeEvent(next, NAMES), outcomeEvent(state, NAMES));
          state = next;
          if (state.confirmed) {
            assert.equal(state.wakeAt, null);
            assert.equal(state.expireAt! > now, true);
          } else {
            assert.ok(state.wakeAt !== null && state.wakeAt > now, 'nothing wakes it');
            assert.equal(state.expireAt, null, 'it may be deleted before its outcome is told');
            if (state.outcome === null) {
              assert.ok(state.due <= deadline(state) && state.wakeAt === state.due + RULES.slack);
              assert.ok(state.due - now <= MINUTE, 'the ceiling of the pause');
            }
          }
          assert.deepEqual(decodeWatchDocument(encodeWatch(state, 16)), state);
        }
      }),
    );
  });

  test('it ends: attempts at their times are pending until the timeout, then it is timed_out', () => {
    let state = fresh();
    let attempts = 0;
    for (; state.outcome === null; attempts++) {
      assert.ok(attempts < 100);
      state = recordAttempt(state, state.attempt, { kind: 'pending', note: 'x' }, state.due, state.due, RULES)!;
    }
    assert.equal(state.outcome.kind, 'timed_out');
    assert.equal(state.outcome.at, START + 10 * MINUTE, 'the last look is at the timeout');
    assert.match(state.outcome.reason!, /not ready after \d+ attempts: x/);
  });

  test('an answer that comes at the timeout still counts', () => {
    const late = recordAttempt(
      fresh(),
      1,
      { kind: 'ready', answer: null },
      START + 11 * MINUTE,
      START + 11 * MINUTE,
      RULES,
    );
    assert.equal(late?.outcome?.kind, 'ready');
  });
});

describe('pauses', () => {
  test('grow to their ceiling, with at most a tenth less, and differ between watches', () => {
    for (let attempt = 1; attempt < 1000; attempt *= 3) {
      const full = Math.min(10e6 * 2 ** (attempt - 1), MINUTE);
      const got = pause(fresh(), attempt);
      assert.ok(got <= full && got >= full * 0.9 - 1, `${attempt}: ${got}`);
      assert.equal(got, pause(fresh(), attempt));
    }
    const first = new Set(Array.from({ length: 20 }, (_, i) => pause(fresh({ watch_id: `w${i}` }), 1)));
    assert.ok(first.size > 15);
  });

  test('names of tasks: one for each watch, attempt and wake-up', () => {
    const one = fresh();
    const two = { ...one, attempt: 2 };
    assert.equal(new Set([taskName(one, 0), taskName(one, 1), taskName(two, 0), taskName({ ...one, created: 1 }, 0)]).size, 4); // prettier-ignore
  });
});

describe('creating', () => {
  test('the same content is the same watch in whatever order it is written; other content is a conflict', () => {
    const state = fresh();
    const { watch_id, ...rest } = given();
    const turned = decodeWatch({ ...rest, watch_id });
    assert.equal(encodeSpec(turned), encodeSpec(state.spec));
    assert.equal(createWatch(state, turned, START + 1, RULES).kind, 'exists');
    assert.equal(createWatch(state, turned, START + 1, RULES).state, state);
    assert.equal(createWatch(state, spec({ timeout: '11m' }), START + 1, RULES).kind, 'conflict');
  });

  const wrong: Record<string, object> = {
    'no id': { watch_id: ' ' },
    'a long id': { watch_id: 'x'.repeat(1025) },
    'a number as key': { unique_key: 7 },
    'an unknown member': { intervall: '10s' },
    'an unknown probe': { probe: { type: 'ftp' } },
    'another scheme': { probe: { type: 'http', url: 'file:///etc/passwd' } },
    'credentials in the URL': { probe: { type: 'http', url: 'https://a:b@example.com/' } },
    'a header that changes the request': {
      probe: { type: 'http', url: 'https://example.com/', headers: { Host: 'x' } },
    },
    'a header with a line break': { probe: { type: 'http', url: 'https://example.com/', headers: { a: 'x\r\ny: z' } } },
    'an environment variable as secret': { probe: { type: 'http', url: 'https://example.com/', headers: { a: { secret: '../x' } } } }, // prettier-ignore
    'a body with GET': { probe: { type: 'http', url: 'https://example.com/', body: 'x' } },
    'a pointer without slash': {
      probe: { type: 'http', url: 'https://example.com/', ready: { pointer: 'a', equals: 1 } },
    },
    'a pointer of megabytes': { probe: { type: 'http', url: 'https://example.com/', ready: { pointer: '/a'.repeat(4_000_000), equals: 1 } } }, // prettier-ignore
    'an interval of nothing': { interval: '0s' },
    'an interval as number': { interval: 10 },
    'a timeout beyond 30 days': { timeout: '31d' },
    'a ceiling below the interval': { max_interval: '1s' },
    'a shrinking pause': { backoff: 0.5 },
    'a blank status': { statuses: { ready: '' } },
  };
  for (const [name, changes] of Object.entries(wrong)) {
    test(`${name} is refused`, () => {
      assert.throws(() => spec(changes), { code: 'invalid_watch' });
    });
  }
});

test('the event of an outcome is an event whatever the answer', () => {
  const own = { ...NAMES, join_key: 'join_key', sequence: 'sequence' };
  const answers = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.constantFrom(
      '"\\ud800"',
      '{"a":["\\udc00"]}',
      '{"\\ud800":1}',
      '{"a":1,"a":2}',
      '"\\u0000"',
      ' 1 ',
      '1e400',
      'null',
    ),
    fc.constantFrom(1, 499, 500, 501, 20_000).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  );
  fc.assert(
    fc.property(
      answers,
      fc.constantFrom('ready', 'failed'),
      fc.constantFrom(...Object.keys(own)),
      (answer, kind, member) => {
        const names = { ...own, [member]: 'watch' };
        const state = recordAttempt(fresh(), 1, { kind, answer, reason: 'gone' }, START, START, RULES)!;
        const delivery = { data: Buffer.from(outcomeEvent(state, names)!), attributes: {}, messageId: 'm' };
        const event = decode(delivery, names, acceptedRange(START, 'DAY', 0));
        assert.equal(event.payload ?? 'null', state.outcome!.answer?.trim() ?? 'null');
        assert.ok(event.extra!.includes('"watch_":{"watch_id":"w"'));
        if (!/\\ud/.test(answer) && answer.length < 1000) assert.equal(state.outcome!.answer, answer);
      },
    ),
  );
});

test('the event of an outcome has the names of the settings and the answer byte for byte', () => {
  const answer = '{ "status":"done", "amount": 10000000000000000000001.10 }';
  const state = recordAttempt(
    fresh({ statuses: { ready: 'shipped' } }),
    1,
    { kind: 'ready', answer },
    START,
    START,
    RULES,
  )!;
  const text = outcomeEvent(state, { ...NAMES, unique_key: 'user_id' })!;
  assert.ok(text.includes(`"payload":${answer}`));
  const event = JSON.parse(text) as Record<string, unknown>;
  assert.deepEqual([event['user_id'], event['event_status'], event['timestamp']], ['k', 'shipped', '2024-01-05T10:00:00.000000Z']); // prettier-ignore
  assert.deepEqual(event['watch'], { watch_id: 'w', outcome: 'ready', reason: null, attempts: 1 });
  const large = recordAttempt(
    fresh(),
    1,
    { kind: 'ready', answer: JSON.stringify('x'.repeat(70_000)) },
    START,
    START,
    RULES,
  )!;
  assert.equal('payload' in (JSON.parse(outcomeEvent(large, NAMES)!) as object), false);
});
