import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { START } from '../../../test/fakes/clock.ts';
import { event, rulesWith } from '../../../test/fakes/keys.ts';
import { sizeOf } from '../../../test/fakes/store.ts';
import type { Event } from '../event.ts';
import { claimSummary } from './claim.ts';
import { decodeState, encodeState } from './codec.ts';
import { openState, recordEvents } from './record.ts';
import type { State } from './state.ts';
import { summaryMessage } from './summary.ts';
import { Reader, Writer } from './bytes.ts';

const rules = rulesWith();

/** A state with something in every part. */
function sample(): State {
  const events = [
    event({ eventId: 'e-1', sequence: 1, payload: '{"amount":10.50,"deep":[{"x":"text"}]}' }),
    event({ eventId: 'e-2', sequence: 4, eventTime: START + 1, payload: '{"amount":-3}' }),
    event({ eventId: 'é-😀', eventStatus: 'completed', sequence: 5, eventTime: START + 2, payload: '{"amount":1e39}' }),
  ];
  const small = rulesWith({ stepsKept: 2, idsInline: 2 });
  const { state } = recordEvents(openState(null, 'k', START), events, new Map(), START, small);
  const claimed = claimSummary(state, START + rules.grace, small);
  return recordEvents(claimed.state, [event({ eventId: 'later' })], new Map(), START + 60e6, small).state;
}

/** The stored form of `sample()`, as the first version wrote it. Never change it: such documents exist. */
const STORED = {
  v: 1,
  key: 'k',
  shard: 10,
  generation: 1704448800000000,
  version: 4,
  confirmed: 0,
  last_seen: 1704448860000000,
  attempts: 0,
  wake_at: 1704448920000000,
  state:
    'AAEAAAEAgJ7a5v7FgwMBAICQjMr+xYMDBACAkIzK/sWDAwCCkIzK/sWDAwEAgpCMyv7FgwMHw6kt8J+YgAljb21wbGV0ZWQBBQABARkCAICQjMr+xYMDA2UtMQdzdGFydGVkAICQjMr+xYMDBWxhdGVyB3N0YXJ0ZWQBAIGQjMr+xYMDA2UtMgIHL2Ftb3VudAIAEQI0PL7upvLBk0eMAOAAAAAAARDhseX5D5RNbhyeZsAAAAAAABEDFe6k57aHDwFkKmegAAAAAAEAgJCMyv7FgwMDZS0xBDEwLjUBAIGQjMr+xYMDA2UtMgItMwEJL2RlZXAvMC94AAABAAABAAABAAEAgJCMyv7FgwMDZS0xBiJ0ZXh0IgEAgJCMyv7FgwMDZS0xBiJ0ZXh0IgA=',
  ids: 'PvyUjqdfwJkg0AWs/m8EKeTJxoXkvuePz4ntruwAeLuVj4DI/V1Okg==',
  claim:
    'AwCArKiD/8WDAwCAkIzK/sWDAwEBAAEJY29tcGxldGVkAwCAkIzK/sWDAwEAgpCMyv7FgwMAgpCMyv7FgwMAAgNlLTEHc3RhcnRlZACAkIzK/sWDAwNlLTIHc3RhcnRlZACBkIzK/sWDAwGZAXsiL2Ftb3VudCI6eyJjb3VudCI6Miwic3VtIjo3LjUsIm1pbiI6LTMsIm1heCI6MTAuNSwiZmlyc3QiOjEwLjUsImxhc3QiOi0zLCJza2lwcGVkIjoxfSwiL2RlZXAvMC94Ijp7ImNvdW50IjowLCJmaXJzdCI6InRleHQiLCJsYXN0IjoidGV4dCIsInNraXBwZWQiOjB9fQCAntrm/sWDAw==',
};

describe('the stored form of a state', () => {
  it('is read as it was first written, and still written so', () => {
    const { state, ids, claim, ...plain } = STORED;
    const packed = { state: unpack(state), ids: unpack(ids), claim: unpack(claim) };
    assert.deepEqual(decodeState({ ...plain, ...packed }), { ...sample(), ids: unpack(ids) });
    const { state: s, ids: i, claim: c, ...rest } = encodeState(sample(), rules);
    assert.deepEqual({ ...rest, state: pack(s), ids: pack(i), claim: pack(c!) }, STORED);
  });

  it('has no part in the index of wake-ups when nothing will wake the key', () => {
    const { shard, wake_at: wakeAt } = encodeState({ ...sample(), wakeAt: null }, rules);
    assert.deepEqual([shard, wakeAt], [undefined, undefined]);
  });

  it('is refused when a later version wrote it', () => {
    assert.throws(() => decodeState({ ...encodeState(sample(), rules), v: 2 }), /format version 2/);
  });

  it('stays small, and its summary far below the limit of a message, whatever a key holds', () => {
    const many: Event[] = [];
    for (let i = 0; i < 100_000; i++) {
      const eventId = `${i}`.padEnd(1024, '\u0001');
      const payload = `{"amount":${i}e-30,"deep":[{"x":"${'y'.repeat(1000)}"}]}`;
      const sequence = ((i * 7919) % 100_000) + 1;
      many.push(event({ eventId: i % 100 === 0 ? eventId : `e${i}`, eventTime: START + i, sequence, payload }));
    }
    let state = openState(null, 'k'.repeat(1500), START);
    for (let i = 0; i < many.length; i += 2000) {
      state = recordEvents(state, many.slice(i, i + 2000), new Map(), START, rules).state;
    }
    const claimed = claimSummary(state, START + rules.silence, rules);
    assert.equal(claimed.kind, 'claimed');
    assert.ok(sizeOf(encodeState(claimed.state, rules)) < 160 * 1024);
    assert.ok(claimed.kind === 'claimed' && Buffer.byteLength(summaryMessage(claimed.claim.row).data) < 512 * 1024);
  });

  it('holds the scattered numbers of a key as a bitmap', () => {
    const events = Array.from({ length: 20_000 }, (_, i) => event({ eventId: `e${i}`, sequence: 2 * i + 1 }));
    const { state } = recordEvents(openState(null, 'k', START), events, new Map(), START, rules);
    const stored = encodeState(state, rules);
    assert.ok(stored.state.length < 5_000 + 48 * 1024);
    assert.deepEqual(decodeState({ ...stored }).fold.numbers, state.fold.numbers);
  });
});

describe('packed values', () => {
  it('come back as they were', () => {
    const w = new Writer();
    const integers = [0, 1, -1, 127, 128, 2 ** 31, 2 ** 32 + 7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
    const bigs = [0n, -1n, 255n, 256n, -(10n ** 77n)];
    w.list(integers, (n) => w.integer(n));
    w.list(bigs, (n) => w.big(n));
    w.optional<string>(null, (text) => w.text(text));
    w.text('é😀\u0000');
    const r = new Reader(w.done());
    assert.deepEqual(
      r.list(() => r.integer()),
      integers,
    );
    assert.deepEqual(
      r.list(() => r.big()),
      bigs,
    );
    assert.equal(
      r.optional(() => r.text()),
      null,
    );
    assert.equal(r.text(), 'é😀\u0000');
    assert.ok(r.ended);
    assert.throws(() => r.byte(), RangeError);
  });
});

function pack(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function unpack(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
