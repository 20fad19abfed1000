import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileFilter } from './filter.ts';
import { name, rejects, setup } from './fixture.ts';

const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const FAILED_PRECONDITION = 9;
const UNIMPLEMENTED = 12;

test('topics and subscriptions are created, listed, changed and deleted', async (t) => {
  const { pubsub } = await setup(t);
  const [topic] = await pubsub.createTopic('events');
  await rejects(pubsub.createTopic('events'), ALREADY_EXISTS);
  await rejects(pubsub.createTopic('goog-mine'), INVALID_ARGUMENT);
  await rejects(pubsub.createTopic('1st'), INVALID_ARGUMENT);
  await pubsub.createTopic('others');
  const [topics] = await pubsub.getTopics();
  assert.deepEqual(
    topics.map((one) => one.name),
    [name('topics', 'events'), name('topics', 'others')],
  );
  const [subscription] = await topic.createSubscription('mine');
  await rejects(topic.createSubscription('mine'), ALREADY_EXISTS);
  await rejects(pubsub.topic('nowhere').createSubscription('other'), NOT_FOUND);
  await subscription.setMetadata({ ackDeadlineSeconds: 77, labels: { a: 'b' } });
  const [metadata] = await subscription.getMetadata();
  assert.equal(metadata.ackDeadlineSeconds, 77);
  assert.deepEqual(metadata.labels, { a: 'b' });
  assert.equal(metadata.topic, topic.name);
  await rejects(subscription.setMetadata({ filter: 'attributes:x' }), INVALID_ARGUMENT);
  const [ofTopic] = await topic.getSubscriptions();
  assert.deepEqual(
    ofTopic.map((one) => one.name),
    [subscription.name],
  );
  await topic.delete();
  assert.equal((await subscription.getMetadata())[0].topic, '_deleted-topic_');
  await subscription.delete();
  await rejects(subscription.getMetadata(), NOT_FOUND);
  await rejects(topic.delete(), NOT_FOUND);
});

test('settings out of range or not available are refused', async (t) => {
  const { pubsub, receiver, subscriber } = await setup(t);
  const [topic] = await pubsub.createTopic('events');
  const create = (options: object) => topic.createSubscription('mine', options);
  await rejects(create({ ackDeadlineSeconds: 9 }), INVALID_ARGUMENT);
  await rejects(create({ ackDeadlineSeconds: 601 }), INVALID_ARGUMENT);
  await rejects(create({ pushEndpoint: 'ftp://x/' }), INVALID_ARGUMENT);
  await rejects(create({ messageRetentionDuration: { seconds: 599 } }), INVALID_ARGUMENT);
  await rejects(create({ retryPolicy: { minimumBackoff: { seconds: 601 } } }), INVALID_ARGUMENT);
  await rejects(create({ filter: 'attributes.a > 1' }), INVALID_ARGUMENT);
  const deadLetterTopic = topic.name;
  await rejects(create({ deadLetterPolicy: { deadLetterTopic, maxDeliveryAttempts: 4 } }), INVALID_ARGUMENT);
  await rejects(create({ deadLetterPolicy: { deadLetterTopic: name('topics', 'nowhere') } }), NOT_FOUND);
  await rejects(create({ enableExactlyOnceDelivery: true }), UNIMPLEMENTED);
  const schemaSettings = { schema: 'projects/demo/schemas/s', encoding: 'JSON' as const };
  await rejects(pubsub.createTopic({ name: 'typed', schemaSettings }), UNIMPLEMENTED);
  await create({ pushEndpoint: receiver.url });
  await rejects(subscriber.pull({ subscription: name('subscriptions', 'mine'), maxMessages: 1 }), FAILED_PRECONDITION);
  await rejects(subscriber.seek({ subscription: name('subscriptions', 'mine'), time: { seconds: 1 } }), UNIMPLEMENTED);
});

test('messages beyond the limits are refused, those at the limits are not', async (t) => {
  const { pubsub } = await setup(t);
  const [topic] = await pubsub.createTopic('events');
  const publish = (data: string | Buffer, attributes: Record<string, string> = {}) =>
    topic.publishMessage({ data: Buffer.from(data), attributes });
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
  await rejects(publish('', {}), INVALID_ARGUMENT, /empty/);
  await rejects(publish('x', { googKey: 'v' }), INVALID_ARGUMENT, /goog/);
  await rejects(publish('x', { '': 'v' }), INVALID_ARGUMENT);
  await rejects(publish('x', { ['é'.repeat(128) + 'x']: 'v' }), INVALID_ARGUMENT, /257/);
  await rejects(publish('x', { k: 'é'.repeat(512) + 'x' }), INVALID_ARGUMENT, /1025/);
  await rejects(publish('x', many(101)), INVALID_ARGUMENT, /101/);
  await publish('x', { ['é'.repeat(128)]: 'é'.repeat(512) });
  await publish('', many(100));
  await rejects(publish(Buffer.alloc(10_000_001)), INVALID_ARGUMENT, /10000001/);
  await publish(Buffer.alloc(10_000_000));
  await rejects(pubsub.topic('nowhere').publishMessage({ data: Buffer.from('x') }), NOT_FOUND);
  const client = await pubsub.getClientConfig();
  assert.ok(client);
});

test('a message counts as 1,000 bytes at least', async (t) => {
  const { pubsub, server } = await setup(t);
  const [topic] = await pubsub.createTopic('events');
  await topic.publishMessage({ data: Buffer.from('x') });
  assert.equal(server.meter.get('pubsub.publish_bytes'), 1000);
  await topic.publishMessage({ data: Buffer.alloc(2000) });
  assert.ok(server.meter.get('pubsub.publish_bytes') > 3000);
  assert.equal(server.meter.get('pubsub.publish_messages'), 2);
});

test('filters', () => {
  const matches = (filter: string, attributes: Record<string, string>) => compileFilter(filter)(attributes);
  assert.equal(matches('', {}), true);
  assert.equal(matches('attributes:a', { a: '' }), true);
  assert.equal(matches('attributes.a = "1"', { a: '1' }), true);
  assert.equal(matches('attributes.a != "1"', { a: '2' }), true);
  assert.equal(matches('attributes.a != "1"', {}), false);
  assert.equal(matches('NOT attributes.a = "1"', {}), true);
  assert.equal(matches('-attributes:a', { a: '' }), false);
  assert.equal(matches('attributes."x/y" = "q\\"q"', { 'x/y': 'q"q' }), true);
  assert.equal(matches('attributes:a OR (attributes:b AND attributes:c)', { b: '', c: '' }), true);
  for (const wrong of [
    'attributes:a AND attributes:b OR attributes:c',
    'x',
    'attributes.a = 1',
    '(attributes:a',
    'attributes:a b',
  ]) {
    assert.throws(() => compileFilter(wrong), /Invalid filter/, wrong);
  }
});
