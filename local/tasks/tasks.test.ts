import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { FakeTime } from '../shared/fake-time.ts';
import { startReceiver } from '../shared/receiver.ts';
import { fromMs } from '../shared/wire.ts';
import { connect, PARENT, QUEUE, rejects, setup } from './fixture.ts';
import { startTasks } from './server.ts';

const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test('queues are created, listed, changed and deleted', async (t) => {
  const { client, create } = await setup(t);
  await rejects(client.createQueue({ parent: PARENT, queue: { name: QUEUE } }), ALREADY_EXISTS);
  await rejects(client.createQueue({ parent: PARENT, queue: { name: `${PARENT}/queues/a_b` } }), INVALID_ARGUMENT);
  const [queue] = await client.getQueue({ name: QUEUE });
  assert.equal(queue.state, 'RUNNING');
  assert.equal(queue.rateLimits!.maxDispatchesPerSecond, 500);
  assert.equal(queue.retryConfig!.maxAttempts, 100);
  const changed = { name: QUEUE, rateLimits: { maxDispatchesPerSecond: 7 } };
  const [updated] = await client.updateQueue({
    queue: changed,
    updateMask: { paths: ['rate_limits.max_dispatches_per_second'] },
  });
  assert.equal(updated.rateLimits!.maxDispatchesPerSecond, 7);
  assert.equal(updated.rateLimits!.maxConcurrentDispatches, 1000);
  const [queues] = await client.listQueues({ parent: PARENT });
  assert.deepEqual(
    queues.map(({ name }) => name),
    [QUEUE],
  );
  await client.deleteQueue({ name: QUEUE });
  await rejects(client.getQueue({ name: QUEUE }), NOT_FOUND);
  await rejects(create(), NOT_FOUND);
});

test('a paused queue keeps its tasks, RunTask runs one all the same, purge drops them', async (t) => {
  const { client, create, receiver, server } = await setup(t);
  await client.pauseQueue({ name: QUEUE });
  const first = await create();
  await Promise.all([create(), create()]);
  assert.equal((await client.listTasks({ parent: QUEUE }))[0].length, 3);
  await client.runTask({ name: first });
  (await receiver.next()).answer(200);
  while (server.size > 2) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(receiver.count, 1);
  await client.purgeQueue({ name: QUEUE });
  assert.equal(server.idle(), true);
  await create();
  await client.resumeQueue({ name: QUEUE });
  (await receiver.next()).answer(200);
  await server.waitIdle();
  assert.equal(receiver.count, 2);
});

test('the name of a task is taken while it lives and for a window after', async (t) => {
  const time = new FakeTime();
  const { client, create, receiver, server } = await setup(t, { time });
  const name = `${QUEUE}/tasks/named`;
  await create({ name });
  await rejects(create({ name }), ALREADY_EXISTS);
  (await receiver.next()).answer(200);
  await server.waitIdle();
  time.advance(HOUR - 1);
  await rejects(create({ name }), ALREADY_EXISTS);
  time.advance(1);
  await create({ name, scheduleTime: fromMs(time.now() + DAY) });
  await client.deleteTask({ name });
  await rejects(client.deleteTask({ name }), NOT_FOUND);
  await rejects(create({ name }), ALREADY_EXISTS, /already exists/);
});

test('tasks out of range are refused, those at the limits are not', async (t) => {
  const time = new FakeTime();
  const { client, create, receiver } = await setup(t, { time });
  const url = receiver.url;
  const late = (ms: number) => ({ scheduleTime: fromMs(time.now() + ms) });
  await rejects(create(late(30 * DAY + 1)), INVALID_ARGUMENT, /30 days/);
  await create(late(30 * DAY));
  await rejects(create({ dispatchDeadline: fromMs(14_999) }), INVALID_ARGUMENT);
  await rejects(create({ dispatchDeadline: fromMs(30 * 60_000 + 1) }), INVALID_ARGUMENT);
  await rejects(create({ name: `${QUEUE}/tasks/a.b` }), INVALID_ARGUMENT);
  await rejects(create({ name: `${QUEUE}/tasks/${'x'.repeat(501)}` }), INVALID_ARGUMENT);
  await create({ ...late(DAY), name: `${QUEUE}/tasks/${'x'.repeat(500)}` });
  await rejects(create({ name: `${PARENT}/queues/other/tasks/a` }), INVALID_ARGUMENT);
  await rejects(create({ httpRequest: { url: 'ftp://x/' } }), INVALID_ARGUMENT);
  await rejects(create({ httpRequest: { url, httpMethod: 'GET', body: Buffer.from('x') } }), INVALID_ARGUMENT);
  await rejects(create({ httpRequest: { url, body: Buffer.alloc(1024 * 1024) } }), INVALID_ARGUMENT, /size/);
  await create({ ...late(DAY), httpRequest: { url, body: Buffer.alloc(1024 * 1024 - 1024) } });
  await rejects(client.createTask({ parent: QUEUE, task: {} }), INVALID_ARGUMENT);
});

test('GetTask shows the body only in the full view', async (t) => {
  const time = new FakeTime();
  const { client, create } = await setup(t, { time });
  const body = Buffer.from('secret');
  const name = await create({ scheduleTime: fromMs(time.now() + DAY), httpRequest: { body } });
  const [basic] = await client.getTask({ name });
  assert.equal(basic.httpRequest!.body!.length, 0);
  const [full] = await client.getTask({ name, responseView: 'FULL' });
  assert.equal(Buffer.from(full.httpRequest!.body as Uint8Array).toString(), 'secret');
  assert.equal(Number(full.scheduleTime!.seconds) * 1000, time.now() + DAY);
});

test('queues, tasks and taken names survive a restart', async (t) => {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'tasks-'));
  t.after(() => rmSync(stateDir, { recursive: true }));
  const receiver = await startReceiver();
  t.after(() => receiver.stop());
  const time = new FakeTime();
  const httpRequest = { url: receiver.url, body: Buffer.from('kept') };
  const task = (id: string, ms: number) => ({
    name: `${QUEUE}/tasks/${id}`,
    httpRequest,
    scheduleTime: fromMs(time.now() + ms),
  });

  let server = await startTasks({ stateDir, time });
  let client = connect(server);
  await client.createQueue({ parent: PARENT, queue: { name: QUEUE, rateLimits: { maxDispatchesPerSecond: 9 } } });
  await client.createTask({ parent: QUEUE, task: task('later', DAY) });
  await client.createTask({ parent: QUEUE, task: task('now', 0) });
  (await receiver.next()).answer(200);
  while (server.size > 1) await new Promise((resolve) => setImmediate(resolve));
  await client.close();
  await server.stop();

  server = await startTasks({ stateDir, time });
  client = connect(server);
  assert.equal((await client.getQueue({ name: QUEUE }))[0].rateLimits!.maxDispatchesPerSecond, 9);
  await rejects(client.createTask({ parent: QUEUE, task: task('now', 0) }), ALREADY_EXISTS);
  await rejects(client.createTask({ parent: QUEUE, task: task('later', 0) }), ALREADY_EXISTS);
  time.advance(DAY);
  const arrival = await receiver.next();
  assert.equal(arrival.body, 'kept');
  arrival.answer(200);
  await server.waitIdle();
  await client.close();
  await server.stop();
});
