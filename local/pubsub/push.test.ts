import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeTime } from '../shared/fake-time.ts';
import { Faults, type Fault } from '../shared/faults.ts';
import type { Arrival } from '../shared/receiver.ts';
import { name, setup, type Fixture } from './fixture.ts';

interface Pushed {
  message: Record<string, unknown> & { data?: string; attributes?: Record<string, string> };
  subscription: string;
  deliveryAttempt?: number;
}

const pushed = (arrival: Arrival) => JSON.parse(arrival.body) as Pushed;

async function withPush({ pubsub, receiver }: Fixture, options: object = {}) {
  const [topic] = await pubsub.createTopic('events');
  await topic.createSubscription('pushed', { pushConfig: { pushEndpoint: receiver.url }, ...options });
  return topic;
}

/** Waits until the server has seen the outcome of the last push. */
const settled = async (done: () => boolean) => {
  while (!done()) await new Promise((resolve) => setImmediate(resolve));
};

test('a message arrives wrapped, with a token, and is gone after 204', async (t) => {
  const time = new FakeTime();
  const all = await setup(t, { time });
  const { receiver, server } = all;
  const topic = await withPush(all, {
    pushConfig: { pushEndpoint: receiver.url, oidcToken: { serviceAccountEmail: 'push@demo', audience: '' } },
    enableMessageOrdering: true,
  });
  topic.setPublishOptions({ messageOrdering: true });
  const id = await topic.publishMessage({ data: Buffer.from('hello'), attributes: { a: 'b' }, orderingKey: 'k' });
  const arrival = await receiver.next();
  assert.deepEqual(pushed(arrival), {
    message: {
      attributes: { a: 'b' },
      data: 'aGVsbG8=',
      messageId: id,
      message_id: id,
      orderingKey: 'k',
      publishTime: '2026-01-01T00:00:00.000Z',
      publish_time: '2026-01-01T00:00:00.000Z',
    },
    subscription: name('subscriptions', 'pushed'),
  });
  assert.equal(arrival.headers['content-type'], 'application/json');
  const [scheme, token] = arrival.headers.authorization!.split(' ');
  assert.equal(scheme, 'Bearer');
  const claims = JSON.parse(Buffer.from(token!.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
  assert.equal(claims['aud'], receiver.url);
  assert.equal(claims['email'], 'push@demo');
  assert.equal(claims['iss'], 'https://accounts.google.com');
  assert.equal(claims['exp'], time.now() / 1000 + 3600);
  assert.equal(server.idle(), false);
  arrival.answer(204);
  await server.waitIdle();
  assert.equal(server.backlog(name('subscriptions', 'pushed')), 0);
});

test('empty members are left out of the wrapper', async (t) => {
  const all = await setup(t);
  const topic = await withPush(all);
  await topic.publishMessage({ attributes: { only: 'this' } });
  const first = await all.receiver.next();
  assert.equal('data' in pushed(first).message, false);
  assert.equal('deliveryAttempt' in pushed(first), false);
  first.answer(200);
  await topic.publishMessage({ data: Buffer.from('x') });
  const second = await all.receiver.next();
  assert.equal('attributes' in pushed(second).message, false);
  assert.equal('orderingKey' in pushed(second).message, false);
  second.answer(200);
});

test('without the wrapper the data is the body and the metadata are headers', async (t) => {
  const all = await setup(t);
  const pushConfig = { pushEndpoint: all.receiver.url, noWrapper: { writeMetadata: true } };
  const topic = await withPush(all, { pushConfig });
  const id = await topic.publishMessage({ data: Buffer.from('{"raw":1}'), attributes: { 'Content-Type': 'text/x' } });
  const arrival = await all.receiver.next();
  arrival.answer(200);
  assert.equal(arrival.body, '{"raw":1}');
  assert.equal(arrival.headers['content-type'], 'text/x');
  assert.equal(arrival.headers['x-goog-pubsub-message-id'], id);
});

test('every other status brings the message back after its backoff, longer each time', async (t) => {
  const time = new FakeTime();
  const all = await setup(t, { time });
  const { server, receiver } = all;
  const retryPolicy = { minimumBackoff: { seconds: 10 }, maximumBackoff: { seconds: 30 } };
  const topic = await withPush(all, { retryPolicy });
  await topic.publishMessage({ data: Buffer.from('x') });
  let failed = 0;
  for (const [status, backoff] of [
    [500, 10_000],
    [429, 20_000],
    [301, 30_000],
    [404, 30_000],
  ] as const) {
    (await receiver.next()).answer(status);
    failed++;
    await settled(() => server.meter.get('pubsub.failed_deliveries') === failed);
    time.advance(backoff - 1);
    assert.equal(receiver.count, failed);
    time.advance(1);
  }
  (await receiver.next()).answer(201);
  await server.waitIdle();
});

test('a request without an answer fails when the acknowledgement deadline passes', async (t) => {
  const time = new FakeTime();
  const all = await setup(t, { time });
  const topic = await withPush(all, { ackDeadlineSeconds: 20 });
  await topic.publishMessage({ data: Buffer.from('x') });
  await all.receiver.next();
  time.advance(19_999);
  assert.equal(all.server.meter.get('pubsub.failed_deliveries'), 0);
  time.advance(1);
  (await all.receiver.next()).answer(200);
  await all.server.waitIdle();
  assert.equal(all.server.meter.get('pubsub.failed_deliveries'), 1);
});

test('after the last attempt the message goes to the dead-letter topic with its origin', async (t) => {
  const time = new FakeTime();
  const all = await setup(t, { time });
  const { pubsub, receiver, server, subscriber } = all;
  const [dead] = await pubsub.createTopic('dead');
  await dead.createSubscription('dead-pull');
  const deadLetterPolicy = { deadLetterTopic: dead.name, maxDeliveryAttempts: 5 };
  const topic = await withPush(all, { deadLetterPolicy });
  await topic.publishMessage({ data: Buffer.from('poison'), attributes: { a: 'b' } });
  for (let attempt = 1; attempt <= 5; attempt++) {
    const arrival = await receiver.next();
    assert.equal(pushed(arrival).deliveryAttempt, attempt);
    arrival.answer(500);
  }
  await server.waitIdle();
  const [{ receivedMessages }] = await subscriber.pull({
    subscription: name('subscriptions', 'dead-pull'),
    maxMessages: 9,
  });
  assert.equal(receivedMessages?.length, 1);
  assert.equal(Buffer.from(receivedMessages[0]!.message!.data as Uint8Array).toString(), 'poison');
  assert.deepEqual(receivedMessages[0]!.message!.attributes, {
    a: 'b',
    CloudPubSubDeadLetterSourceDeliveryCount: '5',
    CloudPubSubDeadLetterSourceSubscription: 'pushed',
    CloudPubSubDeadLetterSourceSubscriptionProject: 'demo',
    CloudPubSubDeadLetterSourceTopicPublishTime: '2026-01-01T00:00:00.000Z',
  });
});

test('a dead letter needs no room: its message is in memory already', async (t) => {
  const all = await setup(t, { time: new FakeTime(), maxBacklogBytes: 0 });
  const { pubsub, receiver, server } = all;
  const [dead] = await pubsub.createTopic('dead');
  const [subscription] = await dead.createSubscription('dead-pull');
  const topic = await withPush(all, { deadLetterPolicy: { deadLetterTopic: dead.name, maxDeliveryAttempts: 5 } });
  await topic.publishMessage({ data: Buffer.from('poison') });
  for (let attempt = 1; attempt <= 5; attempt++) (await receiver.next()).answer(500);
  await server.waitIdle();
  assert.equal(server.backlog(subscription.name), 1);
});

test('of an ordering key one message is out at a time, also when it fails', async (t) => {
  const all = await setup(t);
  const topic = await withPush(all, { enableMessageOrdering: true });
  topic.setPublishOptions({ messageOrdering: true });
  const publish = (data: string, orderingKey: string) => topic.publishMessage({ data: Buffer.from(data), orderingKey });
  await Promise.all([publish('a1', 'a'), publish('a2', 'a'), publish('b1', 'b'), publish('a3', 'a')]);
  const text = (arrival: Arrival) => Buffer.from(pushed(arrival).message.data!, 'base64').toString();
  const first = [await all.receiver.next(), await all.receiver.next()];
  assert.deepEqual(first.map(text).sort(), ['a1', 'b1']);
  first.find((arrival) => text(arrival) === 'a1')!.answer(500);
  const order: string[] = [];
  for (let i = 0; i < 3; i++) {
    const arrival = await all.receiver.next();
    order.push(text(arrival));
    arrival.answer(200);
  }
  assert.deepEqual(order, ['a1', 'a2', 'a3']);
  first.find((arrival) => text(arrival) === 'b1')!.answer(200);
  await all.server.waitIdle();
});

test('the window starts small and grows with success', async (t) => {
  const all = await setup(t, { push: { initialWindow: 2, maxWindow: 4 } });
  const topic = await withPush(all);
  await Promise.all(Array.from({ length: 12 }, (_, i) => topic.publishMessage({ data: Buffer.from(String(i)) })));
  const first = [await all.receiver.next(), await all.receiver.next()];
  assert.equal(all.receiver.count, 2);
  for (const arrival of first) arrival.answer(200);
  const second = await Promise.all(Array.from({ length: 4 }, () => all.receiver.next()));
  assert.equal(all.receiver.count, 6);
  for (const arrival of second) arrival.answer(200);
  for (let i = 0; i < 6; i++) (await all.receiver.next()).answer(200);
  await all.server.waitIdle();
});

const withFault = (fault: Fault) => new Faults(({ method, n }) => (method === 'push' && n === 0 ? fault : undefined));

test('fault refuse: the request is not sent and the attempt counts', async (t) => {
  const all = await setup(t, { faults: withFault({ kind: 'refuse' }) });
  const topic = await withPush(all);
  await topic.publishMessage({ data: Buffer.from('x') });
  (await all.receiver.next()).answer(200);
  await all.server.waitIdle();
  assert.equal(all.receiver.count, 1);
  assert.equal(all.server.meter.get('pubsub.failed_deliveries'), 1);
});

test('fault lose_answer: the endpoint gets the message again though it answered 200', async (t) => {
  const all = await setup(t, { faults: withFault({ kind: 'lose_answer' }) });
  const topic = await withPush(all);
  await topic.publishMessage({ data: Buffer.from('x') });
  const first = await all.receiver.next();
  first.answer(200);
  const second = await all.receiver.next();
  second.answer(200);
  await all.server.waitIdle();
  assert.equal(pushed(first).message['messageId'], pushed(second).message['messageId']);
});

test('fault deliver_twice: the endpoint gets the message twice', async (t) => {
  const all = await setup(t, { faults: withFault({ kind: 'deliver_twice' }) });
  const topic = await withPush(all);
  await topic.publishMessage({ data: Buffer.from('x') });
  for (let i = 0; i < 2; i++) (await all.receiver.next()).answer(200);
  await all.server.waitIdle();
  assert.equal(all.server.meter.get('pubsub.deliver_messages'), 2);
});

test('a subscription turns from pull to push and back', async (t) => {
  const all = await setup(t);
  const [topic] = await all.pubsub.createTopic('events');
  const [subscription] = await topic.createSubscription('turning');
  await topic.publishMessage({ data: Buffer.from('1') });
  assert.equal(all.receiver.count, 0);
  await subscription.modifyPushConfig({ pushEndpoint: all.receiver.url });
  (await all.receiver.next()).answer(200);
  await all.server.waitIdle();
  await subscription.modifyPushConfig({});
  await topic.publishMessage({ data: Buffer.from('2') });
  assert.equal(all.server.backlog(subscription.name), 1);
  assert.equal(all.receiver.count, 1);
});
