import type { CloudTasksClient } from '@google-cloud/tasks';
import { toError } from '../core/errors.ts';
import type { Tasks } from '../ports.ts';
import type { AdapterContext } from './runtime.ts';
import { fromStatus, withDeadline } from './status.ts';

const ALREADY_EXISTS = 6;
/** Attempts of a task may take as long as the function that it calls. */
const DISPATCH_DEADLINE_SECONDS = 60;

/** Tasks in Cloud Tasks. Each creation has the configured deadline and is tried once: a name makes repeating harmless. */
export function createTasks({ config }: Pick<AdapterContext, 'config'>): Tasks & { close(): Promise<void> } {
  // Loaded when it is first needed: most runs of sweep create no task.
  let connection: Promise<CloudTasksClient> | undefined;
  const deadlineMs = config.portDeadline / 1000;
  return {
    async create({ name, scheduleTime, body }) {
      connection ??= import('./cloud-tasks-client.ts').then(({ connect }) => connect(config));
      const client = await connection;
      const parent = client.queuePath(config.projectId, config.region, config.pollQueue);
      const task = {
        name: `${parent}/tasks/${name}`,
        dispatchDeadline: { seconds: DISPATCH_DEADLINE_SECONDS },
        ...(scheduleTime === null ? {} : { scheduleTime: timestamp(scheduleTime) }),
        httpRequest: {
          url: config.pollUrl,
          httpMethod: 'POST' as const,
          headers: { 'content-type': 'application/json' },
          body: Buffer.from(body),
        },
      };
      const what = `task ${name}`;
      try {
        const created = client.createTask({ parent, task }, { timeout: deadlineMs, retry: null });
        await withDeadline(created, deadlineMs + 1000, what);
        return 'created';
      } catch (thrown) {
        const error = toError(thrown);
        if ('code' in error && error.code === ALREADY_EXISTS) return 'exists';
        throw fromStatus(error, what, 'message_refused');
      }
    },
    async close() {
      await (await connection)?.close();
    },
  };
}

function timestamp(micros: number): { seconds: number; nanos: number } {
  const seconds = Math.floor(micros / 1e6);
  return { seconds, nanos: (micros - seconds * 1e6) * 1000 };
}
