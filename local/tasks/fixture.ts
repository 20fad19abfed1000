import { CloudTasksClient, type protos } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startReceiver, type Receiver } from '../shared/receiver.ts';
import { startTasks, type TasksOptions, type TasksServer } from './server.ts';

/** For the tests of this folder: a server, the real client and an endpoint for the tasks. */

process.env['METADATA_SERVER_DETECTION'] = 'none';

export const PARENT = 'projects/demo/locations/local';
export const QUEUE = `${PARENT}/queues/work`;

export interface Fixture {
  readonly server: TasksServer;
  readonly client: CloudTasksClient;
  readonly receiver: Receiver;
  /** Creates a task whose URL is the endpoint. */
  readonly create: (task?: protos.google.cloud.tasks.v2.ITask) => Promise<string>;
}

export function connect({ address }: TasksServer): CloudTasksClient {
  const port = Number(address.split(':')[1]);
  const sslCreds = credentials.createInsecure();
  return new CloudTasksClient({ projectId: 'demo', apiEndpoint: '127.0.0.1', port, sslCreds });
}

/** Starts everything with one queue, and ends it with the test. */
export async function setup(
  context: TestContext,
  options: TasksOptions = {},
  queue: protos.google.cloud.tasks.v2.IQueue = {},
): Promise<Fixture> {
  const server = await startTasks(options);
  const receiver = await startReceiver();
  const client = connect(server);
  context.after(async () => {
    await client.close();
    await server.stop();
    await receiver.stop();
  });
  await client.createQueue({ parent: PARENT, queue: { name: QUEUE, ...queue } });
  return {
    server,
    client,
    receiver,
    async create(task = {}) {
      const httpRequest = { url: receiver.url, ...task.httpRequest };
      const [created] = await client.createTask({ parent: QUEUE, task: { ...task, httpRequest } });
      return created.name!;
    },
  };
}

/** Asserts that a promise rejects with a gRPC status. */
export async function rejects(promise: Promise<unknown>, code: number, message?: RegExp): Promise<void> {
  await assert.rejects(promise, (error: Error & { code?: number }) => {
    assert.equal(error.code, code, error.message);
    if (message) assert.match(error.message, message);
    return true;
  });
}

/** Waits, turn by turn, until something is so. */
export async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setImmediate(resolve));
}
