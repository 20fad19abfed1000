import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import { unlessThere } from './provision.ts';
import { POLL_QUEUE, PROJECT, QUEUE_RETRIES, QUEUES, REGION } from './resources.ts';
import type { ServerOptions } from './shared/server.ts';
import { startTasks, type TasksServer } from './tasks/server.ts';

/** The real client of Cloud Tasks, pointed at a local server (`host:port`). */
export function tasksClient(address: string): CloudTasksClient {
  // Without it the client asks whether this machine is one of Google's.
  process.env['METADATA_SERVER_DETECTION'] = 'none';
  const [apiEndpoint, port] = address.split(':');
  return new CloudTasksClient({
    projectId: PROJECT,
    apiEndpoint: apiEndpoint!,
    port: Number(port),
    sslCreds: credentials.createInsecure(),
  });
}

/** Cloud Tasks with the queues for writes, whose tasks go to the function `submit`, and the one for watches. */
export async function startWrites(
  options: ServerOptions,
  urlOf: (name: 'submit' | 'poll') => string,
): Promise<TasksServer> {
  // As in the cloud the queue says who is called; a task that outlived its cloud finds the function at its new port.
  const override = (queue: string): string | undefined =>
    queue in QUEUES ? urlOf(queue === POLL_QUEUE ? 'poll' : 'submit') : undefined;
  const server = await startTasks({ ...options, override });
  const client = tasksClient(server.address);
  try {
    const parent = client.locationPath(PROJECT, REGION);
    for (const [name, rateLimits] of Object.entries(QUEUES)) {
      const queue = { name: client.queuePath(PROJECT, REGION, name), rateLimits, retryConfig: QUEUE_RETRIES };
      await unlessThere(client.createQueue({ parent, queue }));
    }
  } catch (error) {
    await server.stop();
    throw error;
  } finally {
    await client.close();
  }
  return server;
}
