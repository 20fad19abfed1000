import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { loadConfig } from '../../functions/config.ts';
import { deadLetter, OWN_ATTRIBUTES } from '../../functions/core/dead-letter.ts';
import type { Delivery } from '../../functions/core/event.ts';
import { messageAgain, originOf, reasonOf } from '../../scripts/redrive/letter.ts';
import { letter } from './fixture.ts';

const NAMES = loadConfig({ PROJECT_ID: 'local-project' }).eventFields;

/** What the table holds of a delivery that was dead-lettered. */
function lettered(delivery: Delivery) {
  const { data, attributes } = deadLetter(delivery, { code: 'invalid_timestamp', hint: 'x', cause: 'y' }, NAMES);
  return letter({ data, attributes });
}

const name = fc.oneof(
  fc.constantFrom(...OWN_ATTRIBUTES),
  fc.string({ minLength: 1, maxLength: 8 }).filter((text) => !/^(original_|goog|redriven$)/.test(text)),
);
// No value of ours begins so: an attribute that is equal to ours is not kept twice.
const VALUE = fc.string({ maxLength: 8 }).map((text) => `v${text}`);
const delivery: fc.Arbitrary<Delivery> = fc.record({
  data: fc.uint8Array({ minLength: 1, maxLength: 40 }),
  attributes: fc.dictionary(name, VALUE, { maxKeys: 6 }).map((attributes) => ({ ...attributes })),
  messageId: fc.constant('m-1'),
  publishTime: fc.constantFrom(null, 1_704_448_800_184_708),
  deliveryAttempt: fc.constantFrom(null, 3),
  origin: fc.constant('projects/p/subscriptions/events-ingest'),
  orderingKey: fc.constantFrom(null, 'o'),
});

describe('a dead letter published again', () => {
  test('any message has its bytes, attributes, ordering key and identity', () => {
    fc.assert(
      fc.property(delivery, (original) => {
        const { data, attributes, orderingKey } = messageAgain(lettered(original));
        const { event_id: id, redriven, ...others } = attributes;
        const { event_id: ownId, ...expected } = original.attributes;
        assert.equal(data, original.data);
        assert.deepEqual(others, expected);
        assert.equal(id, ownId ?? 'm-1');
        assert.equal(redriven, '1');
        assert.equal(orderingKey ?? null, original.orderingKey);
      }),
    );
  });

  test('DEC-26: the bytes are the original ones, and the message id is kept', () => {
    const text =
      '{"event_id":"e-1","unique_key":"order_001","event_status":"started","timestamp":"not a time","payload":{"n":1.0,"b":1}}';
    const sha = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');
    const one = lettered({
      ...fc.sample(delivery, { numRuns: 1, seed: 1 })[0]!,
      data: Buffer.from(text),
      attributes: { source: 'shop' },
    });
    assert.equal(one.attributes['message_id'], 'm-1');
    const again = messageAgain(one);
    assert.deepEqual(
      [sha(one.data), sha(again.data as Uint8Array), again.attributes['source'], again.attributes['event_id']],
      [sha(text), sha(text), 'shop', 'e-1'],
    );
  });

  test('counts how often', () => {
    const twice = letter({ attributes: { ...letter().attributes, redriven: '2' } });
    assert.equal(messageAgain(twice).attributes['redriven'], '3');
  });

  test('what Pub/Sub forwarded keeps all that is not from Pub/Sub', () => {
    const forwarded = letter({
      attributes: {
        CloudPubSubDeadLetterSourceDeliveryCount: '100',
        CloudPubSubDeadLetterSourceSubscription: 'completions-finish',
        CloudPubSubDeadLetterSourceSubscriptionProject: 'p',
        reason: 'mine',
        origin: 'join',
      },
    });
    assert.deepEqual(messageAgain(forwarded).attributes, {
      reason: 'mine',
      origin: 'join',
      event_id: 'd-1',
      redriven: '1',
    });
    assert.deepEqual(originOf(forwarded), {
      kind: 'subscription',
      name: 'projects/p/subscriptions/completions-finish',
    });
    assert.equal(reasonOf(forwarded), 'none');
  });

  test('without any id the id of the dead letter names the event, at every repeat', () => {
    const { data } = letter();
    const one = letter({ data, attributes: { reason: 'missing_event_id', origin: 'submit' } });
    assert.equal(messageAgain(one).attributes['event_id'], 'd-1');
    assert.deepEqual(originOf(one), { kind: 'submit' });
  });

  test('rows of a join have no message to repeat', () => {
    assert.deepEqual(originOf(letter({ attributes: { reason: 'result_too_large', origin: 'join' } })), {
      kind: 'join',
    });
    assert.deepEqual(originOf(letter({ attributes: { reason: 'invalid_json', origin: 'push' } })), { kind: 'unknown' });
  });
});
