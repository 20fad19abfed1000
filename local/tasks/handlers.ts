import type * as grpc from '@grpc/grpc-js';
import { randomBytes } from 'node:crypto';
import { StatusError, type Faults } from '../shared/faults.ts';
import type { Meter } from '../shared/meter.ts';
import { serviceError, unary } from '../shared/rpc.ts';
import type { Time } from '../shared/time.ts';
import { applyMask, page } from '../shared/wire.ts';
import { operations } from './dispatch.ts';
import { checkQueue, checkTask, checkTaskName, invalid } from './limits.ts';
import type { Queues } from './queues.ts';
import { newTask, wireTask } from './task.ts';
import { queueOf, type CreateTaskRequest, type QueueSettings, type WireTask } from './wire.ts';

const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const UNIMPLEMENTED = 12;

export interface Env {
  readonly queues: Queues;
  readonly faults: Faults;
  readonly meter: Meter;
  readonly time: Time;
  /** Encoded size of a request. */
  readonly sizeOf: (request: object) => number;
}

interface Named {
  name: string;
}

interface Listing {
  parent: string;
  filter: string;
  responseView: string;
  pageSize: number;
  pageToken: string;
}

/** The methods of google.cloud.tasks.v2.CloudTasks. */
export function cloudTasks(env: Env): grpc.UntypedServiceImplementation {
  return {
    ...queueMethods(env),
    ...taskMethods(env),
    ...missing(['GetIamPolicy', 'SetIamPolicy', 'TestIamPermissions']),
  };
}

function caller({ faults }: Env) {
  return <Request>(
    method: string,
    resource: (request: Request) => string,
    handle: (request: Request) => object | Promise<object>,
  ): grpc.handleUnaryCall<Request, object> => unary(faults, 'tasks', method, resource, handle);
}

const named = ({ name }: Named) => name;

function queueMethods(env: Env): grpc.UntypedServiceImplementation {
  const { queues } = env;
  const call = caller(env);
  const setState = (name: string, state: string) => queues.putQueue({ ...queues.queue(name).settings, state });
  return {
    createQueue: call(
      'CreateQueue',
      ({ queue }: { parent: string; queue: QueueSettings }) => queue.name,
      ({ parent, queue }) => {
        if (!queue.name.startsWith(`${parent}/queues/`)) throw invalid(`The queue ${queue.name} is not in ${parent}.`);
        return queues.createQueue(checkQueue(queue));
      },
    ),
    getQueue: call('GetQueue', named, ({ name }: Named) => queues.queue(name).settings),
    listQueues: call(
      'ListQueues',
      ({ parent }: Listing) => parent,
      ({ parent, filter, pageSize, pageToken }) => {
        if (filter) throw new StatusError(UNIMPLEMENTED, 'filter is not available on the local Cloud Tasks');
        const all = [...queues.all.values()].map(({ settings }) => settings);
        const inside = all.filter(({ name }) => name.startsWith(`${parent}/queues/`));
        const { items, nextPageToken } = page(inside, pageSize, pageToken);
        return { queues: items, nextPageToken };
      },
    ),
    updateQueue: call(
      'UpdateQueue',
      ({ queue }: { queue: QueueSettings; updateMask: { paths: string[] } | null }) => queue.name,
      ({ queue, updateMask }) => {
        const known = queues.all.get(queue.name)?.settings;
        // Google's method creates what is not there.
        if (!known) return queues.createQueue(checkQueue(queue));
        const paths = updateMask?.paths.length ? updateMask.paths : ['rate_limits', 'retry_config'];
        const { state, purgeTime } = known;
        return queues.putQueue({ ...checkQueue(applyMask(known, queue, paths)), state, purgeTime });
      },
    ),
    deleteQueue: call('DeleteQueue', named, ({ name }: Named) => {
      queues.deleteQueue(name);
      return {};
    }),
    purgeQueue: call('PurgeQueue', named, ({ name }: Named) => queues.purge(name)),
    pauseQueue: call('PauseQueue', named, ({ name }: Named) => setState(name, 'PAUSED')),
    resumeQueue: call('ResumeQueue', named, ({ name }: Named) => setState(name, 'RUNNING')),
  };
}

function taskMethods(env: Env): grpc.UntypedServiceImplementation {
  const { queues, meter } = env;
  const call = caller(env);
  return {
    createTask: call(
      'CreateTask',
      ({ parent }: CreateTaskRequest) => parent,
      (request) => create(env, request),
    ),
    getTask: call('GetTask', named, ({ name, responseView }: Named & { responseView: string }) => {
      checkTaskName(name);
      meter.add('tasks.operations');
      return wireTask(queues.task(name), responseView);
    }),
    listTasks: call(
      'ListTasks',
      ({ parent }: Listing) => parent,
      ({ parent, responseView, pageSize, pageToken }) => {
        meter.add('tasks.operations');
        const { items, nextPageToken } = page(queues.queue(parent).tasks.values(), pageSize, pageToken);
        return { tasks: items.map((task) => wireTask(task, responseView)), nextPageToken };
      },
    ),
    deleteTask: call('DeleteTask', named, ({ name }: Named) => {
      checkTaskName(name);
      meter.add('tasks.operations');
      queues.queue(queueOf(name)).remove(queues.task(name));
      return {};
    }),
    runTask: call('RunTask', named, ({ name, responseView }: Named & { responseView: string }) => {
      checkTaskName(name);
      meter.add('tasks.operations');
      const task = queues.task(name);
      queues.queue(queueOf(name)).force(task);
      return wireTask(task, responseView);
    }),
  };
}

function create(env: Env, request: CreateTaskRequest): WireTask {
  const { queues, time, meter, faults, sizeOf } = env;
  const { parent, task: given } = request;
  if (!queues.all.has(parent)) throw new StatusError(NOT_FOUND, `Queue does not exist: ${parent}`);
  if (!given) throw invalid('CreateTaskRequest.task must be set.');
  const name = given.name || `${parent}/tasks/${BigInt(`0x${randomBytes(8).toString('hex')}`)}`;
  checkTaskName(name);
  if (queueOf(name) !== parent) throw invalid(`The task ${name} is not in the queue ${parent}.`);
  const bytes = sizeOf(request);
  const checked = checkTask(given, bytes, time.now());
  meter.add('tasks.operations', operations(bytes));
  if (queues.isTaken(name)) throw new StatusError(ALREADY_EXISTS, `Requested entity already exists: ${name}`);
  const task = newTask(name, checked, time.now());
  const fault = faults.next('tasks', 'enqueue', parent);
  const view = wireTask(task, request.responseView);
  if (fault?.kind === 'refuse') queues.lose(task);
  else queues.add(fault?.kind === 'delay' ? { ...task, scheduleTime: task.scheduleTime + fault.ms } : task);
  return view;
}

function missing(methods: readonly string[]): grpc.UntypedServiceImplementation {
  const handler =
    (method: string): grpc.handleUnaryCall<object, object> =>
    (_call, callback) =>
      callback(serviceError(new StatusError(UNIMPLEMENTED, `${method} is not available on the local Cloud Tasks`)));
  return Object.fromEntries(methods.map((method) => [method[0]!.toLowerCase() + method.slice(1), handler(method)]));
}
