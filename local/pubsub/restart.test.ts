import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { startReceiver } from '../shared/receiver.ts';
import { connect, name } from './fixture.ts';
import { startPubSub } from './server.ts';

function folder(t: TestContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'pubsub-'));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

test('topics, subscriptions and undelivered messages survive a restart', async (t) => {
  const stateDir = folder(t);
  const receiver = await startReceiver();
  t.after(() => receiver.stop());
  let server = await startPubSub({ stateDir });
  const pubsub = await connect(server);
  const [topic] = await pubsub.createTopic('events');
  const [subscription] = await topic.createSubscription('pushed', { ackDeadlineSeconds: 33 });
  await topic.createSubscription('empty', { filter: 'attributes:none' });
  const ids = await Promise.all(['1', '2', '3'].map((data) => topic.publishMessage({ data: Buffer.from(data) })));
  await subscription.modifyPushConfig({ pushEndpoint: receiver.url });
  const arrivals = [await receiver.next(), await receiver.next(), await receiver.next()];
  const first = arrivals.find(({ body }) => body.includes(ids[0]!))!;
  first.answer(200);
  while (server.backlog(subscription.name) > 2) await new Promise((resolve) => setImmediate(resolve));
  await pubsub.close();
  await server.stop();

  // A line that was being written when the process ended.
  appendFileSync(path.join(stateDir, 'pubsub.journal'), '{"publish":"projects/demo/to');
  server = await startPubSub({ stateDir });
  const again = [await receiver.next(), await receiver.next()];
  assert.deepEqual(again.map(({ body }) => ids.findIndex((id) => body.includes(id))).sort(), [1, 2]);
  for (const arrival of again) arrival.answer(200);
  await server.waitIdle();
  assert.equal(server.backlog(name('subscriptions', 'empty')), 0);
  const client = await connect(server);
  const [metadata] = await client.subscription('pushed').getMetadata();
  assert.equal(metadata.ackDeadlineSeconds, 33);
  const next = await client.topic('events').publishMessage({ data: Buffer.from('4') });
  assert.ok(Number(next) > Number(ids[2]));
  (await receiver.next()).answer(200);
  await server.waitIdle();
  await client.close();
  await server.stop();

  server = await startPubSub({ stateDir });
  assert.equal(server.idle(), true);
  await server.stop();
});

test('an acknowledged publish survives the sudden death of the process', async (t) => {
  const stateDir = folder(t);
  const child = fork(path.join(import.meta.dirname, 'child.fixture.ts'), [stateDir]);
  const [address] = (await once(child, 'message')) as [string];
  process.env['PUBSUB_EMULATOR_HOST'] = address;
  const pubsub = await connect({ address } as Awaited<ReturnType<typeof startPubSub>>);
  const [topic] = await pubsub.createTopic('events');
  await topic.createSubscription('pulled');
  await Promise.all(Array.from({ length: 100 }, (_, i) => topic.publishMessage({ data: Buffer.from(String(i)) })));
  child.kill('SIGKILL');
  await once(child, 'exit');
  await pubsub.close();
  const server = await startPubSub({ stateDir });
  assert.equal(server.backlog(name('subscriptions', 'pulled')), 100);
  await server.stop();
});
