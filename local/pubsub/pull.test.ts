import type { Message } from '@google-cloud/pubsub';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { FakeTime } from '../shared/fake-time.ts';
import { Faults } from '../shared/faults.ts';
import { name, rejects, setup, type Fixture } from './fixture.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

const SUBSCRIPTION = name('subscriptions', 'pulled');

async function withPull({ pubsub }: Fixture, options: object = {}) {
  const [topic] = await pubsub.createTopic('events');
  const [subscription] = await topic.createSubscription('pulled', options);
  return { topic, subscription };
}

const pull = async ({ subscriber }: Fixture, maxMessages = 100) => {
  const request = { subscription: SUBSCRIPTION, maxMessages, returnImmediately: true };
  const [{ receivedMessages }] = await subscriber.pull(request);
  return (receivedMessages ?? []).map(({ ackId, message, deliveryAttempt }) => ({
    ackId: ackId!,
    data: Buffer.from(message!.data as Uint8Array).toString(),
    deliveryAttempt,
  }));
};

test('streaming pull delivers thousands, each once', async (t) => {
  const all = await setup(t);
  const { topic, subscription } = await withPull(all);
  const COUNT = 3000;
  const seen = new Map<string, number>();
  const done = new Promise<void>((resolve, reject) => {
    subscription.on('error', reject);
    subscription.on('message', (message: Message) => {
      seen.set(message.id, (seen.get(message.id) ?? 0) + 1);
      message.ack();
      if (seen.size === COUNT) resolve();
    });
  });
  await Promise.all(Array.from({ length: COUNT }, (_, i) => topic.publishMessage({ data: Buffer.from(String(i)) })));
  await done;
  await subscription.close();
  assert.deepEqual([...new Set(seen.values())], [1]);
  assert.equal(all.server.backlog(SUBSCRIPTION), 0);
});

test('streaming pull keeps the order of a key over a negative acknowledgement', async (t) => {
  const all = await setup(t);
  const { topic, subscription } = await withPull(all, { enableMessageOrdering: true });
  topic.setPublishOptions({ messageOrdering: true });
  const order: string[] = [];
  const done = new Promise<void>((resolve, reject) => {
    subscription.on('error', reject);
    subscription.on('message', (message: Message) => {
      order.push(message.data.toString());
      if (order.length === 2) message.nack();
      else message.ack();
      if (order.length === 5) resolve();
    });
  });
  for (const data of ['1', '2', '3', '4']) await topic.publishMessage({ data: Buffer.from(data), orderingKey: 'k' });
  await done;
  await subscription.close();
  assert.deepEqual(order, ['1', '2', '2', '3', '4']);
});

test('an unacknowledged message comes back after its deadline, an extended one later', async (t) => {
  const time = new FakeTime();
  const all = await setup(t, { time });
  const { topic } = await withPull(all, { ackDeadlineSeconds: 10 });
  await topic.publishMessage({ data: Buffer.from('x') });
  const [first] = await pull(all);
  await all.subscriber.modifyAckDeadline({
    subscription: SUBSCRIPTION,
    ackIds: [first!.ackId],
    ackDeadlineSeconds: 60,
  });
  time.advance(59_999);
  assert.equal((await pull(all)).length, 0);
  time.advance(1);
  const [second] = await pull(all);
  assert.equal(second!.data, 'x');
  await all.subscriber.acknowledge({ subscription: SUBSCRIPTION, ackIds: [first!.ackId] });
  assert.equal(all.server.backlog(SUBSCRIPTION), 1, 'an outdated acknowledgement has no effect');
  await all.subscriber.acknowledge({ subscription: SUBSCRIPTION, ackIds: [second!.ackId] });
  assert.equal(all.server.backlog(SUBSCRIPTION), 0);
});

test('delivery attempts are told when a dead-letter policy exists', async (t) => {
  const all = await setup(t);
  const [dead] = await all.pubsub.createTopic('dead');
  const { topic } = await withPull(all, { deadLetterPolicy: { deadLetterTopic: dead.name, maxDeliveryAttempts: 5 } });
  await topic.publishMessage({ data: Buffer.from('x') });
  for (let attempt = 1; attempt <= 5; attempt++) {
    const [message] = await pull(all);
    assert.equal(message!.deliveryAttempt, attempt);
    const ackIds = [message!.ackId];
    await all.subscriber.modifyAckDeadline({ subscription: SUBSCRIPTION, ackIds, ackDeadlineSeconds: 0 });
  }
  assert.equal(all.server.backlog(SUBSCRIPTION), 0);
});

test('messages older than the retention are dropped', async (t) => {
  const time = new FakeTime();
  const all = await setup(t, { time });
  const { topic } = await withPull(all, { messageRetentionDuration: { seconds: 600 } });
  await topic.publishMessage({ data: Buffer.from('old') });
  time.advance(300_000);
  await topic.publishMessage({ data: Buffer.from('new') });
  time.advance(300_000);
  assert.deepEqual(
    (await pull(all)).map(({ data }) => data),
    ['new'],
  );
});

test('a filter keeps out what does not match', async (t) => {
  const all = await setup(t);
  const { topic } = await withPull(all, { filter: 'hasPrefix(attributes.kind, "a") AND NOT attributes:skip' });
  await topic.publishMessage({ data: Buffer.from('1'), attributes: { kind: 'ab' } });
  await topic.publishMessage({ data: Buffer.from('2'), attributes: { kind: 'b' } });
  await topic.publishMessage({ data: Buffer.from('3'), attributes: { kind: 'ac', skip: '' } });
  assert.deepEqual(
    (await pull(all)).map(({ data }) => data),
    ['1'],
  );
});

test('faults of Pull and Publish', async (t) => {
  const seen: string[] = [];
  const faults = new Faults(({ method, n }) => {
    seen.push(`${method}${n}`);
    if (method === 'Pull' && n === 0) return { kind: 'lose_answer', code: 9 };
    if (method === 'Pull' && n === 1) return { kind: 'deliver_twice' };
    if (method === 'Publish' && n === 0) return { kind: 'lose_answer' };
    return undefined;
  });
  const time = new FakeTime();
  const all = await setup(t, { faults, time });
  const { topic } = await withPull(all);
  await topic.publishMessage({ data: Buffer.from('x') });
  assert.equal(all.server.backlog(SUBSCRIPTION), 2, 'the client published again after the lost answer');
  await rejects(pull(all, 2), 9);
  time.advance(10_000);
  assert.equal((await pull(all, 2)).length, 4);
  assert.ok(seen.includes('CreateSubscription0'));
});

test('fault lose_answer of StreamingPull: the batch comes after its deadline', async (t) => {
  const faults = new Faults(({ method, n }) =>
    method === 'StreamingPull' && n === 0 ? { kind: 'lose_answer' } : undefined,
  );
  const time = new FakeTime();
  const all = await setup(t, { faults, time });
  const { topic, subscription } = await withPull(all);
  await topic.publishMessage({ data: Buffer.from('x') });
  const message = new Promise<Message>((resolve, reject) => {
    subscription.on('error', reject);
    subscription.on('message', resolve);
  });
  // The retention of the message and the deadline of its lease.
  while (time.pending < 2) await turn();
  time.advance(10_000);
  (await message).ack();
  while (all.server.backlog(SUBSCRIPTION) > 0) await turn();
  await subscription.close();
});

test('a sign of life on a stream is answered; without an answer the client would open it anew', async (t) => {
  const all = await setup(t);
  await withPull(all);
  const stream = all.subscriber.streamingPull() as unknown as Duplex;
  stream.write({ subscription: SUBSCRIPTION, streamAckDeadlineSeconds: 10, protocolVersion: 1 });
  stream.write({});
  const [answer] = (await once(stream, 'data')) as [{ receivedMessages: unknown[] }];
  assert.deepEqual(answer.receivedMessages, []);
  stream.on('error', () => undefined).destroy();
});
