import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeTime } from '../shared/fake-time.ts';
import { name, setup, type Fixture } from './fixture.ts';
import type { RowWriter } from './server.ts';

type Rows = Parameters<RowWriter>[1];

async function withTable({ pubsub }: Fixture, bigqueryConfig: object = {}, options: object = {}) {
  const [topic] = await pubsub.createTopic('events');
  await topic.createSubscription('exported', {
    bigqueryConfig: { table: 'demo.set.table', ...bigqueryConfig },
    ...options,
  });
  return topic;
}

test('messages wait for a writer and become rows with their metadata', async (t) => {
  const all = await setup(t, { time: new FakeTime() });
  const topic = await withTable(all, { writeMetadata: true });
  const id = await topic.publishMessage({ data: Buffer.from('hello'), attributes: { a: 'b' } });
  assert.equal(all.server.idle(), false);
  const written: [string, Rows][] = [];
  all.server.setBigQueryWriter(async (table, rows) => void written.push([table, rows]));
  await all.server.waitIdle();
  assert.deepEqual(written, [
    [
      'demo.set.table',
      [
        {
          subscription_name: name('subscriptions', 'exported'),
          message_id: id,
          publish_time: '2026-01-01T00:00:00.000Z',
          attributes: '{"a":"b"}',
          data: 'aGVsbG8=',
        },
      ],
    ],
  ]);
});

test('without metadata there is the data alone; with the schema of the table its columns', async (t) => {
  const written: Rows = [];
  const all = await setup(t, { bigQueryWriter: async (_, rows) => void written.push(...rows) });
  const topic = await withTable(all);
  const bigqueryConfig = { table: 'demo.set.other', useTableSchema: true };
  await topic.createSubscription('columns', { bigqueryConfig });
  await topic.publishMessage({ data: Buffer.from('{"a":1}') });
  await all.server.waitIdle();
  assert.deepEqual(written.map((row) => JSON.stringify(row)).sort(), ['{"a":1}', '{"data":"eyJhIjoxfQ=="}']);
});

test('a bad row is retried by itself and ends in the dead-letter topic; its neighbours are written once', async (t) => {
  const time = new FakeTime();
  const written: string[] = [];
  const bigQueryWriter: RowWriter = async (_, rows) => {
    if (rows.some(({ n }) => n === 3)) throw new Error('no such column');
    written.push(...rows.map(({ n }) => String(n)));
  };
  const all = await setup(t, { time, bigQueryWriter });
  const [dead] = await all.pubsub.createTopic('dead');
  await dead.createSubscription('dead-pull');
  const deadLetterPolicy = { deadLetterTopic: dead.name, maxDeliveryAttempts: 5 };
  const topic = await withTable(all, { useTableSchema: true }, { deadLetterPolicy });
  await Promise.all([1, 2, 3, 4].map((n) => topic.publishMessage({ data: Buffer.from(JSON.stringify({ n })) })));
  let idle = false;
  const done = all.server.waitIdle().then(() => (idle = true));
  while (!idle) {
    time.advance(2000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await done;
  assert.deepEqual(written.sort(), ['1', '2', '4']);
  const subscription = name('subscriptions', 'dead-pull');
  const [{ receivedMessages }] = await all.subscriber.pull({ subscription, maxMessages: 9 });
  const attributes = receivedMessages?.[0]?.message?.attributes;
  assert.equal(attributes?.['CloudPubSubDeadLetterSourceDeliveryErrorMessage'], 'no such column');
});
