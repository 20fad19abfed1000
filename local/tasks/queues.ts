import { StatusError } from '../shared/faults.ts';
import { fromMs } from '../shared/wire.ts';
import type { DispatchEnv } from './dispatch.ts';
import { TaskQueue } from './queue.ts';
import { Store } from './store.ts';
import type { Task } from './task.ts';
import { queueOf, type QueueSettings } from './wire.ts';

const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;

/** All queues and the names of tasks that are still taken. */
export class Queues {
  readonly all = new Map<string, TaskQueue>();
  /** Names of tasks that are gone, in the order in which they become free. */
  readonly #taken = new Map<string, number>();
  readonly #env: DispatchEnv;
  readonly #dedupe: number;
  readonly #store: Store | undefined;
  #closed = false;
  /** Called when a task is gone. */
  onRemoved: () => void = () => undefined;

  /** `dedupe`: how long the name of a task that is gone stays taken, in milliseconds. */
  constructor(env: DispatchEnv, dedupe: number, stateDir: string | undefined) {
    this.#env = env;
    this.#dedupe = dedupe;
    if (stateDir === undefined) return;
    const store = new Store(stateDir);
    const queues = new Map<string, QueueSettings>();
    const tasks = new Map<string, Task>();
    store.replay({
      queue: (settings) => queues.set(settings.name, settings),
      noQueue: (name) => {
        queues.delete(name);
        for (const task of tasks.keys()) if (queueOf(task) === name) tasks.delete(task);
      },
      task: (task) => tasks.set(task.name, task),
      done: (name, until) => {
        tasks.delete(name);
        this.#taken.set(name, until);
      },
    });
    store.compact(queues.values(), tasks.values(), this.#taken);
    this.#store = store;
    for (const settings of queues.values()) this.#open(settings);
    for (const task of tasks.values()) this.queue(queueOf(task.name)).add(task);
  }

  #open(settings: QueueSettings): void {
    const queue = new TaskQueue(settings, this.#env, {
      changed: (task) => this.#store?.changed(task),
      removed: (task) => this.#removed(task),
    });
    this.all.set(settings.name, queue);
  }

  #removed({ name }: Task): void {
    this.#take(name);
    this.onRemoved();
  }

  #take(name: string): void {
    const until = this.#env.time.now() + this.#dedupe;
    this.#taken.delete(name);
    this.#taken.set(name, until);
    this.#store?.done(name, until);
    if (this.#store?.grown) this.#compact(this.#store);
  }

  #compact(store: Store): void {
    const queues = [...this.all.values()];
    store.compact(
      queues.map(({ settings }) => settings),
      queues.flatMap(({ tasks }) => [...tasks.values()]),
      this.#taken,
    );
  }

  /** @throws StatusError NOT_FOUND */
  queue(name: string): TaskQueue {
    const queue = this.all.get(name);
    if (!queue) throw new StatusError(NOT_FOUND, `Queue does not exist: ${name}`);
    return queue;
  }

  /** @throws StatusError ALREADY_EXISTS */
  createQueue(settings: QueueSettings): QueueSettings {
    if (this.all.has(settings.name)) throw new StatusError(ALREADY_EXISTS, `Queue already exists: ${settings.name}`);
    return this.putQueue({ ...settings, state: 'RUNNING', purgeTime: null });
  }

  putQueue(settings: QueueSettings): QueueSettings {
    this.#store?.queue(settings);
    const known = this.all.get(settings.name);
    if (known) known.settings = settings;
    else this.#open(settings);
    return settings;
  }

  deleteQueue(name: string): void {
    const queue = this.queue(name);
    this.#store?.noQueue(name);
    queue.close();
    this.all.delete(name);
    this.onRemoved();
  }

  /** Deletes every task of a queue. */
  purge(name: string): QueueSettings {
    const queue = this.queue(name);
    for (const task of [...queue.tasks.values()]) queue.remove(task);
    return this.putQueue({ ...queue.settings, purgeTime: fromMs(this.#env.time.now()) });
  }

  /** @throws StatusError NOT_FOUND, also for a task that is done */
  task(name: string): Task {
    const task = this.queue(queueOf(name)).tasks.get(name);
    if (!task) throw new StatusError(NOT_FOUND, `The task no longer exists: ${name}`);
    return task;
  }

  /** Whether a task of this name exists or did so within the window. */
  isTaken(name: string): boolean {
    const now = this.#env.time.now();
    for (const [old, until] of this.#taken) {
      if (until > now) break;
      this.#taken.delete(old);
    }
    return this.#taken.has(name) || this.all.get(queueOf(name))?.tasks.has(name) === true;
  }

  add(task: Task): void {
    this.#store?.created(task);
    this.queue(queueOf(task.name)).add(task);
  }

  /** Takes a task's name without the task. */
  lose(task: Task): void {
    this.#take(task.name);
  }

  /** Tasks that are not done. */
  get size(): number {
    return this.all.values().reduce((sum, { tasks }) => sum + tasks.size, 0);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const queue of this.all.values()) queue.close();
    this.#store?.close();
  }
}
