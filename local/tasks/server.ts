import * as grpc from '@grpc/grpc-js';
import { Faults } from '../shared/faults.ts';
import { listen, loadProtos, stop } from '../shared/grpc.ts';
import { HttpSender } from '../shared/http-out.ts';
import { Meter } from '../shared/meter.ts';
import { sized } from '../shared/rpc.ts';
import type { LocalServer, ServerOptions } from '../shared/server.ts';
import { realTime, type Time } from '../shared/time.ts';
import { cloudTasks } from './handlers.ts';
import { Queues } from './queues.ts';

export interface TasksOptions extends ServerOptions {
  readonly time?: Time;
  /** How long the name of a task that is gone stays taken, milliseconds; an hour by default. */
  readonly dedupeMs?: number;
  /** The URI override of a queue, by its short name: where all its tasks go, wherever they say. Asked at each attempt. */
  readonly override?: (queue: string) => string | undefined;
}

export interface TasksServer extends LocalServer {
  readonly meter: Meter;
  /** Tasks that are not done, waiting for a later moment or not. */
  readonly size: number;
  /** True when there is no task left. */
  idle(): boolean;
  /** Resolves when `idle()` is true. */
  waitIdle(): Promise<void>;
}

const HOUR = 3_600_000;
/** Larger than any request that is accepted, so that the limits are answered by their own errors. */
const MAX_MESSAGE = 16 * 1024 * 1024;

/**
 * Starts a Cloud Tasks server (google.cloud.tasks.v2 over plaintext gRPC).
 *
 * Beside the methods of the API two more pass the fault hook, both with the queue as resource: `dispatch`, an attempt
 * (`refuse`: it is lost; `lose_answer`: it counts as failed although it arrived; `delay`; `deliver_twice`), and
 * `enqueue`, a creation that was accepted (`refuse`: the task is lost all the same; `delay`: it comes so much later).
 */
export async function startTasks(options: TasksOptions = {}): Promise<TasksServer> {
  const { time = realTime, faults = new Faults(), meter = new Meter() } = options;
  const sender = new HttpSender(time);
  const { override } = options;
  const queues = new Queues(
    { time, sender, faults, meter, ...(override && { override }) },
    options.dedupeMs ?? HOUR,
    options.stateDir,
  );
  const server = new grpc.Server({ 'grpc.max_receive_message_length': MAX_MESSAGE });
  const { service, sizeOf } = sized(protocol());
  server.addService(service, cloudTasks({ queues, faults, meter, time, sizeOf }));
  const port = await listen(server, options.port);

  const idle = () => queues.size === 0;
  let waiting: (() => void)[] = [];
  queues.onRemoved = () => {
    if (waiting.length === 0 || !idle()) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    address: `127.0.0.1:${port}`,
    meter,
    get size() {
      return queues.size;
    },
    idle,
    async waitIdle() {
      if (!idle()) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async stop() {
      stop(server);
      queues.close();
      sender.close();
    },
  };
}

function protocol(): grpc.ServiceDefinition {
  const root = loadProtos('@google-cloud/tasks', 'build/protos/protos.json') as unknown as {
    google: { cloud: { tasks: { v2: { CloudTasks: { service: grpc.ServiceDefinition } } } } };
  };
  return root.google.cloud.tasks.v2.CloudTasks.service;
}
