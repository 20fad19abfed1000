import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import { startReceiver, type Receiver } from '../../local/shared/receiver.ts';
import { Faults, type Fault } from '../../local/shared/faults.ts';
import { startTasks, type TasksServer } from '../../local/tasks/server.ts';
import { loadConfig } from '../config.ts';
import { AmbiguousError, PermanentError, TransientError } from '../core/errors.ts';
import { createTasks } from './cloud-tasks.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

const PARENT = 'projects/local-project/locations/us-central1';
let server: TasksServer;
let receiver: Receiver;
let tasks: ReturnType<typeof createTasks>;
let fault: Fault | undefined;

before(async () => {
  server = await startTasks({ faults: new Faults(({ method }) => (method === 'CreateTask' ? fault : undefined)) });
  receiver = await startReceiver((arrival) => arrival.answer(200));
  const [apiEndpoint, port] = server.address.split(':');
  const client = new CloudTasksClient({ apiEndpoint: apiEndpoint!, port: Number(port), sslCreds: credentials.createInsecure() }); // prettier-ignore
  await client.createQueue({ parent: PARENT, queue: { name: `${PARENT}/queues/codaflow-poll` } });
  await client.close();
  tasks = create();
});
after(async () => {
  await tasks.close();
  await server.stop();
  await receiver.stop();
});
beforeEach(() => {
  fault = undefined;
});

function create(settings: Record<string, string> = {}) {
  const config = loadConfig({ PROJECT_ID: 'local-project', CLOUD_TASKS_EMULATOR_HOST: server.address, POLL_URL: receiver.url, PORT_DEADLINE: '2s', ...settings }); // prettier-ignore
  return createTasks({ config });
}
const task = (name: string, scheduleTime: number | null = null) =>
  ({ queue: 'poll', name, scheduleTime, body: `{"n":"${name}"}` }) as const;

test('a task arrives with its body; its name is taken once', async () => {
  assert.equal(await tasks.create(task('a')), 'created');
  assert.equal(await tasks.create(task('a')), 'exists');
  const arrival = await receiver.next();
  assert.deepEqual(
    [arrival.method, arrival.body, arrival.headers['x-cloudtasks-taskname']],
    ['POST', '{"n":"a"}', 'a'],
  );
  assert.equal(arrival.headers['content-type'], 'application/json');
  await server.waitIdle();
});

test('the kinds of failure', async () => {
  fault = { kind: 'lose_answer' };
  await assert.rejects(tasks.create(task('b')), AmbiguousError);
  fault = { kind: 'refuse', code: 8 };
  await assert.rejects(tasks.create(task('c')), TransientError);
  fault = undefined;
  assert.equal(await tasks.create(task('b')), 'exists');
  await assert.rejects(tasks.create(task('d', (Date.now() + 31 * 86_400_000) * 1000)), PermanentError);
  const elsewhere = create({ POLL_QUEUE: 'nowhere' });
  await assert.rejects(elsewhere.create(task('e')), TransientError);
  await elsewhere.close();
  fault = { kind: 'delay', ms: 1000 };
  const hasty = create({ PORT_DEADLINE: '100ms' });
  await assert.rejects(hasty.create(task('f')), AmbiguousError);
  await hasty.close();
});
