import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { formatMicros } from '../../functions/core/time.ts';
import { START } from '../fakes/clock.ts';
import { Handlers } from '../keys/handlers.ts';
import { event, KEY, reasons, stateOf } from './event.ts';
import { messageCases } from './messages.ts';

/** The messages that broke other systems, through the function that takes them: stored once, or a dead letter. */

/** Later than every time in them; none is too old then. */
const NOW = START + 150 * 86_400e6;

describe('messages through ingest', () => {
  for (const { id, failure, messages } of messageCases()) {
    test(`${id}: ${failure}`, async () => {
      for (const { data, attributes, expected } of messages) {
        const cloud = new Handlers(NOW);
        // Twice, as Pub/Sub may.
        for (let i = 0; i < 2; i++) assert.equal(await cloud.deliver({ data, attributes, messageId: 'm-1' }), 204);
        const rows = cloud.events.commits.map(({ row }) => row);
        if (!('code' in expected)) {
          assert.deepEqual(reasons(cloud), []);
          assert.equal(cloud.store.dump().size, 1);
          assert.equal(stateOf(cloud, rows[0]!.unique_key).fold.count, 1);
          for (const { event_time, payload } of rows) {
            assert.equal(formatMicros(event_time), expected.time);
            assert.equal(payload, expected.payload);
          }
        } else {
          assert.deepEqual([rows.length, cloud.store.dump().size], [0, 0]);
          assert.deepEqual(reasons(cloud), [expected.code, expected.code]);
          for (const letter of cloud.bus.published('deadLetters')) {
            assert.deepEqual(Buffer.from(letter.data as Uint8Array), data);
          }
        }
      }
    });
  }
});

test('ENV-02: the same message as a CloudEvent, a push and an event of the first generation is one event', async () => {
  const cloud = new Handlers(START);
  const data = Buffer.from(JSON.stringify(event('e-1', 'started'))).toString('base64');
  const push = { message: { data, messageId: 'm1', publishTime: '2024-01-05T10:00:00Z' }, subscription: 's' };
  const context = { eventId: 'm1', timestamp: '2024-01-05T10:00:00Z' };
  const bodies = [
    push,
    { type: 'google.cloud.pubsub.topic.v1.messagePublished', data: push },
    { context, data: { data } },
  ];
  for (const body of bodies) assert.equal(await cloud.post(body), 204);
  const rows = cloud.events.commits.map(({ row }) => row);
  assert.equal(rows.length, 3);
  for (const row of rows) assert.deepEqual(row, rows[0]);
  assert.equal(stateOf(cloud).fold.count, 1);
});

describe('messages made by a recipe', () => {
  test('DEC-19: 21 levels of nesting are one row with the text, and no map in the state', async () => {
    const cloud = new Handlers(START);
    const payload = '{"a":'.repeat(21) + '1' + '}'.repeat(21);
    const data = JSON.stringify(event('e-1', 'started')).replace('{"amount":10}', payload);
    assert.equal(await cloud.deliver({ data }), 204);
    assert.deepEqual(
      cloud.events.commits.map(({ row }) => row.payload),
      [payload],
    );
    assert.ok(!JSON.stringify([...cloud.store.dump().values()]).includes('"a":'));
    assert.equal(stateOf(cloud, KEY).fold.count, 1);
  });

  test('DEC-23: 50 MB from 50 kB are a dead letter that holds the 50 kB', async () => {
    const cloud = new Handlers(START);
    const data = gzipSync(JSON.stringify(event('e-1', 'started', { payload: { x: '0'.repeat(50_000_000) } })));
    assert.equal(await cloud.deliver({ data, attributes: { 'content-encoding': 'gzip' } }), 204);
    assert.deepEqual(reasons(cloud), ['too_large']);
    const [letter] = cloud.bus.published('deadLetters');
    assert.deepEqual(Buffer.from(letter!.data as Uint8Array), data);
    assert.deepEqual([cloud.events.commits.length, cloud.store.dump().size], [0, 0]);
  });
});
