import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cutText, deadLetter } from './dead-letter.ts';
import type { FieldNames } from './decode/decode.ts';
import type { Delivery } from './event.ts';
import { TransientError } from './errors.ts';

const NAMES = Object.fromEntries(
  ['unique_key', 'event_status', 'timestamp', 'event_id', 'join_key', 'sequence', 'payload'].map((name) => [
    name,
    name,
  ]),
) as FieldNames;
const REJECTION = { code: 'invalid_timestamp', hint: 'use RFC 3339' } as const;

function delivery(changes: Partial<Delivery> = {}): Delivery {
  const data = Buffer.from('{"unique_key":"k","event_id":"e-1","timestamp":"not a time"}');
  return { data, attributes: {}, messageId: 'm-1', publishTime: 1_704_448_800_184_708, deliveryAttempt: 3, origin: 'projects/p/subscriptions/ingest', orderingKey: null, ...changes }; // prettier-ignore
}

describe('dead letters', () => {
  test('hold the bytes, the reason, the identity and the origin', () => {
    const one = delivery();
    const letter = deadLetter(one, REJECTION, NAMES);
    assert.equal(letter.data, one.data);
    assert.deepEqual(letter.attributes, {
      reason: 'invalid_timestamp',
      hint: 'use RFC 3339',
      event_id: 'e-1',
      unique_key: 'k',
      origin: 'projects/p/subscriptions/ingest',
      message_id: 'm-1',
      publish_time: '2024-01-05T10:00:00.184708Z',
      delivery_attempt: '3',
    });
  });

  test('a message without an id of its own keeps its identity when it is sent again', () => {
    const data = Buffer.from('{"unique_key":"k"}');
    assert.equal(deadLetter(delivery({ data }), REJECTION, NAMES).attributes['event_id'], 'm-1');
    const attributes = { event_id: 'a-1' };
    assert.equal(deadLetter(delivery({ data, attributes }), REJECTION, NAMES).attributes['event_id'], 'a-1');
  });

  test('long keys appear as their hash', () => {
    const key = '鍵'.repeat(500);
    const { attributes } = deadLetter(
      delivery({ data: Buffer.from(JSON.stringify({ unique_key: key })) }),
      REJECTION,
      NAMES,
    );
    assert.equal(attributes['unique_key_sha256'], createHash('sha256').update(key).digest('hex'));
    assert.equal(attributes['unique_key'], undefined);
  });

  test("the message's own attributes stay; those that ours replace get another name", () => {
    const attributes = { source: 'shop', reason: 'mine', event_id: 'a-1', origin: 'projects/p/subscriptions/ingest' };
    const letter = deadLetter(delivery({ attributes }), REJECTION, NAMES).attributes;
    assert.deepEqual(
      [
        letter['source'],
        letter['reason'],
        letter['original_reason'],
        letter['event_id'],
        letter['original_event_id'],
        letter['original_origin'],
      ],
      ['shop', 'invalid_timestamp', 'mine', 'e-1', 'a-1', undefined],
    );
  });

  test("is always inside Pub/Sub's limits", () => {
    const name = fc.oneof(
      fc.string({ maxLength: 10 }),
      fc.constantFrom('reason', 'original_reason', 'googx', '', 'x'.repeat(257), 'é'.repeat(128)),
    );
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('x'.repeat(1025), '鍵'.repeat(400), '😀'.repeat(300)),
    );
    const attributes = fc
      .array(fc.tuple(name, value), { maxLength: 150 })
      .map((list) => Object.fromEntries(list) as Record<string, string>);
    const many = fc
      .integer({ min: 0, max: 120 })
      .map((n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`n${i}`, 'v'])));
    fc.assert(
      fc.property(fc.oneof(attributes, many), value, (own, hint) => {
        const letter = deadLetter(delivery({ attributes: own }), { ...REJECTION, hint }, NAMES);
        const entries = Object.entries(letter.attributes);
        assert.ok(entries.length <= 100);
        for (const [key, text] of entries) {
          assert.ok(key !== '' && Buffer.byteLength(key) <= 256 && !key.startsWith('goog'));
          assert.ok(Buffer.byteLength(text) <= 1024 && text.isWellFormed());
        }
        const kept = Object.keys(own).filter(
          (key) => key in letter.attributes || `original_${key}` in letter.attributes,
        );
        assert.ok(kept.length === Object.keys(own).length || Number(letter.attributes['attributes_dropped']) > 0);
      }),
    );
  });

  test('drops attributes before it gives up, and never cuts the bytes', () => {
    const own = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`n${i}`, 'x'.repeat(1000)]));
    const letter = deadLetter(delivery({ data: Buffer.alloc(9_950_000, 32), attributes: own }), REJECTION, NAMES);
    const bytes = Object.entries(letter.attributes).reduce(
      (sum, [key, value]) => sum + key.length + value.length,
      letter.data.length,
    );
    assert.ok(bytes < 10_000_000 && letter.data.length === 9_950_000);
    assert.ok(Number(letter.attributes['attributes_dropped']) > 0);
    const tooLarge = delivery({ data: Buffer.alloc(10_000_000, 32) });
    assert.throws(
      () => deadLetter(tooLarge, REJECTION, NAMES),
      (error) => error instanceof TransientError && error.code === 'blocked',
    );
  });

  test('texts are cut between characters', () => {
    assert.equal(cutText('鍵鍵', 5), '鍵');
    assert.equal(cutText('鍵鍵', 6), '鍵鍵');
    assert.equal(cutText('a\ud800', 10), 'a\ufffd');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 0, max: 40 }), (text, max) => {
        const cut = cutText(text, max);
        return (
          Buffer.byteLength(cut) <= max &&
          text.toWellFormed().startsWith(cut) &&
          (Buffer.byteLength(cut) > max - 4 || cut === text.toWellFormed())
        );
      }),
    );
  });
});
