import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PermanentError } from '../core/errors.ts';
import { readPush } from './push.ts';

const DATA = Buffer.from('{"unique_key":"k"}').toString('base64');
const message = (changes: object = {}) => ({ data: DATA, messageId: '1', ...changes });

describe('the body of a push', () => {
  test("Pub/Sub's own wrapping", () => {
    const body = {
      message: message({ attributes: { a: 'b' }, publishTime: '2024-01-05T10:00:00.123456789Z', orderingKey: 'o' }),
      subscription: 'projects/p/subscriptions/s',
      deliveryAttempt: 3,
    };
    assert.deepEqual(readPush(body), {
      data: Buffer.from(DATA, 'base64'),
      attributes: { a: 'b' },
      messageId: '1',
      publishTime: 1_704_448_800_123_456,
      deliveryAttempt: 3,
      origin: 'projects/p/subscriptions/s',
      orderingKey: 'o',
    });
  });

  test('ENV-02: a CloudEvent, a push and an event of the first generation give the same message', () => {
    const push = { message: message(), subscription: 's' };
    const cloudEvent = { type: 'google.cloud.pubsub.topic.v1.messagePublished', data: push };
    const legacy = {
      context: { eventId: '1', timestamp: '2024-01-05T10:00:00.123Z' },
      data: { '@type': 'type.googleapis.com/google.pubsub.v1.PubsubMessage', data: DATA, attributes: null },
    };
    assert.deepEqual(readPush(cloudEvent), readPush(push));
    assert.deepEqual(readPush(legacy), { ...readPush(push), origin: 'push', publishTime: 1_704_448_800_123_000 });
  });

  test('both spellings of the names, as emulators differ', () => {
    const body = { message: { data: DATA, message_id: '1', publish_time: '2024-01-05T10:00:00Z' }, subscription: 's' };
    assert.deepEqual([readPush(body).messageId, readPush(body).publishTime], ['1', 1_704_448_800_000_000]);
  });

  test('no data is empty data', () => {
    for (const data of [undefined, null, '']) {
      assert.equal(readPush({ message: { data, attributes: { source: 'cron' }, messageId: '1' } }).data.length, 0);
    }
  });

  test('base64 of both alphabets', () => {
    const bytes = Buffer.from([251, 255, 190]);
    for (const alphabet of ['base64', 'base64url'] as const) {
      assert.deepEqual(Buffer.from(readPush({ message: message({ data: bytes.toString(alphabet) }) }).data), bytes);
    }
  });

  test('what is no push is refused with its reason', () => {
    const bodies = [undefined, null, 'text', 7, [], {}, { message: null }, { message: 'x' }, { data: {} }, { data: 'x' }, { message: message({ data: '{"not":"base64"}' }) }, { message: message({ data: 7 }) }, { message: message({ attributes: { a: 1 } }) }, { message: message({ attributes: [] }) }]; // prettier-ignore
    for (const body of bodies) {
      assert.throws(
        () => readPush(body),
        (error) => error instanceof PermanentError && error.code === 'invalid_push',
        JSON.stringify(body),
      );
    }
  });

  test('odd times and attempts are no reason to refuse a message', () => {
    const read = readPush({ message: message({ publishTime: 'now', messageId: 7 }), deliveryAttempt: '3' });
    assert.deepEqual([read.publishTime, read.messageId, read.deliveryAttempt], [null, '', null]);
  });
});
