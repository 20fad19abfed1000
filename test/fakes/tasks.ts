import { PermanentError } from '../../functions/core/errors.ts';
import type { Task, Tasks } from '../../functions/ports.ts';
import { through, type Gate } from './gate.ts';

const HOUR = 3600e6;
/** How far ahead a task may be scheduled. */
const LATEST = 30 * 24 * HOUR;
/** How long the name of a task that is gone stays taken. */
const TAKEN = HOUR;
const MAX_BYTES = 1024 * 1024;

/** Tasks in the order of their creation; shared by all instances. A name stays taken until an hour after its task is gone. */
export class FakeTasks {
  readonly all = new Map<string, Task>();
  readonly #now: () => number;
  #waiting: Task[] = [];
  /** When the names of tasks that are gone become free. */
  readonly #free = new Map<string, number>();
  /** Called for every task as it is created. */
  onCreate: (task: Task) => void = () => undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws PermanentError message_refused */
  create(task: Task): 'created' | 'exists' {
    const now = this.#now();
    if (!/^[\w-]{1,500}$/.test(task.name)) throw refused(`illegal task name ${task.name}`);
    if ((task.scheduleTime ?? 0) > now + LATEST) throw refused('a task waits at most 30 days');
    if (Buffer.byteLength(task.body) > MAX_BYTES) throw refused('a task has at most 1 MiB');
    if (this.all.has(task.name) && (this.#free.get(task.name) ?? Infinity) > now) return 'exists';
    this.#free.delete(task.name);
    this.all.set(task.name, task);
    this.#waiting.push(task);
    this.onCreate(task);
    return 'created';
  }

  /** Takes out the tasks whose time has come. */
  take(now: number): Task[] {
    const due = this.#waiting.filter(({ scheduleTime }) => (scheduleTime ?? 0) <= now);
    this.#waiting = this.#waiting.filter((task) => !due.includes(task));
    this.#gone(due);
    return due;
  }

  /** One task is over, whoever dispatched it. */
  done(name: string): void {
    this.#gone(this.#waiting.filter((task) => task.name === name));
    this.#waiting = this.#waiting.filter((task) => task.name !== name);
  }

  /** Loses every task that waits, though it was accepted. */
  lose(): void {
    this.#gone(this.#waiting);
    this.#waiting = [];
  }

  #gone(tasks: readonly Task[]): void {
    for (const { name } of tasks) this.#free.set(name, this.#now() + TAKEN);
  }

  /** The port of one instance. */
  port(gate: Gate): Tasks {
    return {
      create: async (task) =>
        through(gate, { port: 'tasks', method: 'create', resource: task.queue }, () => this.create(task)),
    };
  }
}

function refused(message: string): PermanentError {
  return new PermanentError('message_refused', message);
}
