import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeTime } from '../shared/fake-time.ts';
import { Faults, type Fault } from '../shared/faults.ts';
import { fromMs } from '../shared/wire.ts';
import { QUEUE, rejects, setup, until } from './fixture.ts';

const NOT_FOUND = 5;

test('a queue with an address of its own sends its tasks there', async (t) => {
  let url = '';
  const asked: string[] = [];
  const override = (queue: string) => {
    asked.push(queue);
    return url;
  };
  const { create, receiver, server } = await setup(t, { time: new FakeTime(), override });
  url = `${receiver.url}here`;
  await create({ httpRequest: { url: 'http://127.0.0.1:9/there', oidcToken: { serviceAccountEmail: 'tasks@demo' } } });
  const arrival = await receiver.next();
  assert.deepEqual([arrival.path, asked], ['/here', ['work']]);
  const token = arrival.headers.authorization!.split('.')[1]!;
  assert.match(Buffer.from(token, 'base64url').toString(), new RegExp(`"aud":"${url}"`));
  arrival.answer(200);
  await server.waitIdle();
});

test('a task arrives with its headers, body and token, and is gone after 2xx', async (t) => {
  const time = new FakeTime();
  const { client, create, receiver, server } = await setup(t, { time });
  const name = await create({
    name: `${QUEUE}/tasks/one`,
    httpRequest: {
      url: `${receiver.url}path?q=1`,
      httpMethod: 'PUT',
      headers: { 'X-Mine': 'yes', 'X-CloudTasks-TaskName': 'forged' },
      body: Buffer.from('hello'),
      oidcToken: { serviceAccountEmail: 'tasks@demo', audience: 'me' },
    },
  });
  assert.equal(name, `${QUEUE}/tasks/one`);
  const arrival = await receiver.next();
  const { method, path, headers, body } = arrival;
  assert.deepEqual([method, path, body], ['PUT', '/path?q=1', 'hello']);
  const own = Object.entries(headers).filter(([key]) => key.startsWith('x-'));
  assert.deepEqual(Object.fromEntries(own), {
    'x-mine': 'yes',
    'x-cloudtasks-queuename': 'work',
    'x-cloudtasks-taskname': 'one',
    'x-cloudtasks-taskretrycount': '0',
    'x-cloudtasks-taskexecutioncount': '0',
    'x-cloudtasks-tasketa': (time.now() / 1000).toFixed(6),
  });
  assert.equal(headers['user-agent'], 'Google-Cloud-Tasks');
  const claims = JSON.parse(Buffer.from(headers.authorization!.split('.')[1]!, 'base64url').toString()) as object;
  assert.ok('aud' in claims && claims.aud === 'me');
  const [running] = await client.getTask({ name });
  assert.equal(running.dispatchCount, 1);
  assert.equal(running.responseCount, 0);
  arrival.answer(299);
  await server.waitIdle();
  await rejects(client.getTask({ name }), NOT_FOUND);
});

test('a task does not start before its schedule time', async (t) => {
  const time = new FakeTime();
  const { create, receiver, server } = await setup(t, { time });
  await create({ scheduleTime: fromMs(time.now() + 86_400_000) });
  time.advance(86_399_999);
  assert.equal(receiver.count, 0);
  time.advance(1);
  (await receiver.next()).answer(200);
  await server.waitIdle();
});

test('a failure repeats the task with doubling pauses, then with equal steps, up to the largest', async (t) => {
  const time = new FakeTime();
  const retryConfig = { minBackoff: fromMs(10_000), maxBackoff: fromMs(300_000), maxDoublings: 3 };
  const { client, create, receiver, server } = await setup(t, { time }, { retryConfig });
  const name = await create();
  const pauses = [10, 20, 40, 80, 160, 240, 300, 300];
  for (const [attempt, pause] of pauses.entries()) {
    const arrival = await receiver.next();
    assert.equal(arrival.headers['x-cloudtasks-taskretrycount'], String(attempt));
    assert.equal(arrival.headers['x-cloudtasks-taskpreviousresponse'], attempt === 0 ? undefined : '500');
    arrival.answer(500);
    await until(async () => (await client.getTask({ name }))[0].responseCount === attempt + 1);
    time.advance(pause * 1000 - 1);
    assert.equal(receiver.count, attempt + 1);
    time.advance(1);
  }
  const last = await receiver.next();
  assert.equal(last.headers['x-cloudtasks-taskexecutioncount'], '8');
  assert.equal(last.headers['x-cloudtasks-taskretryreason'], 'HTTP status code 500');
  last.answer(200);
  await server.waitIdle();
});

test('a task without an answer fails at its dispatch deadline', async (t) => {
  const time = new FakeTime();
  const { client, create, receiver } = await setup(t, { time });
  const name = await create({ dispatchDeadline: fromMs(15_000) });
  await receiver.next();
  time.advance(14_999);
  assert.equal((await client.getTask({ name }))[0].lastAttempt!.responseTime, null);
  time.advance(1);
  await until(async () => (await client.getTask({ name }))[0].lastAttempt!.responseTime !== null);
  const [task] = await client.getTask({ name });
  assert.equal(task.responseCount, 0);
  assert.match(task.lastAttempt!.responseStatus!.message!, /deadline/);
});

test('after the last attempt the task is deleted', async (t) => {
  const { create, receiver, server } = await setup(t, {}, { retryConfig: { maxAttempts: 2, minBackoff: fromMs(1) } });
  await create();
  for (let i = 0; i < 2; i++) (await receiver.next()).answer(503);
  await server.waitIdle();
  assert.equal(receiver.count, 2);
});

test('attempts and duration must both be used up', async (t) => {
  const time = new FakeTime();
  const retryConfig = { maxAttempts: 1, maxRetryDuration: fromMs(60_000), minBackoff: fromMs(60_000) };
  const { client, create, receiver, server } = await setup(t, { time }, { retryConfig });
  const name = await create();
  (await receiver.next()).answer(500);
  await until(async () => (await client.getTask({ name }))[0].responseCount === 1);
  time.advance(60_000);
  (await receiver.next()).answer(500);
  await server.waitIdle();
});

test('a queue dispatches no faster than its rate and no more at once than its limit', async (t) => {
  const time = new FakeTime();
  const rateLimits = { maxDispatchesPerSecond: 2, maxConcurrentDispatches: 11 };
  const { create, receiver, server } = await setup(t, { time }, { rateLimits });
  await Promise.all(Array.from({ length: 13 }, () => create()));
  const burst = await Promise.all(Array.from({ length: 10 }, () => receiver.next()));
  time.advance(499);
  assert.equal(server.meter.get('tasks.operations'), 23, '13 creations and 10 attempts');
  time.advance(1);
  const eleventh = await receiver.next();
  time.advance(60_000);
  assert.equal(server.meter.get('tasks.operations'), 24, 'eleven are under way');
  for (const arrival of [...burst, eleventh]) arrival.answer(200);
  for (let i = 0; i < 2; i++) (await receiver.next()).answer(200);
  await server.waitIdle();
});

const withFault = (fault: Fault, method = 'dispatch') =>
  new Faults((call) => (call.method === method && call.n === 0 ? fault : undefined));
const quick = { retryConfig: { minBackoff: fromMs(1), maxBackoff: fromMs(1) } };

test('fault refuse: the attempt is lost and comes again', async (t) => {
  const { create, receiver, server } = await setup(t, { faults: withFault({ kind: 'refuse' }) }, quick);
  await create();
  const arrival = await receiver.next();
  assert.equal(arrival.headers['x-cloudtasks-taskretrycount'], '1');
  assert.equal(arrival.headers['x-cloudtasks-taskexecutioncount'], '0');
  arrival.answer(200);
  await server.waitIdle();
  assert.equal(receiver.count, 1);
});

for (const kind of ['lose_answer', 'deliver_twice'] as const) {
  test(`fault ${kind}: the task arrives twice though each was answered 200`, async (t) => {
    const { create, receiver, server } = await setup(t, { faults: withFault({ kind }) }, quick);
    await create();
    for (let i = 0; i < 2; i++) (await receiver.next()).answer(200);
    await server.waitIdle();
    assert.equal(receiver.count, 2);
  });
}

test('fault delay: the attempt begins later', async (t) => {
  const time = new FakeTime();
  const { create, receiver, server } = await setup(t, { time, faults: withFault({ kind: 'delay', ms: 5000 }) });
  await create();
  await until(() => time.pending > 0);
  assert.equal(receiver.count, 0);
  time.advance(5000);
  (await receiver.next()).answer(200);
  await server.waitIdle();
});

test('fault refuse of enqueue: an accepted task is lost and its name stays taken', async (t) => {
  const { create, server } = await setup(t, { faults: withFault({ kind: 'refuse' }, 'enqueue') });
  await create({ name: `${QUEUE}/tasks/lost` });
  assert.equal(server.idle(), true);
  await rejects(create({ name: `${QUEUE}/tasks/lost` }), 6);
});
