import type { Task, Tasks } from '../../functions/ports.ts';
import { through, type Gate } from './gate.ts';

/** Tasks in the order of their creation; shared by all instances. A name stays taken for ever. */
export class FakeTasks {
  readonly all = new Map<string, Task>();
  #waiting: Task[] = [];
  /** Called for every task as it is created. */
  onCreate: (task: Task) => void = () => undefined;

  create(task: Task): 'created' | 'exists' {
    if (!/^[\w-]{1,500}$/.test(task.name)) throw new Error(`illegal task name ${task.name}`);
    if (this.all.has(task.name)) return 'exists';
    this.all.set(task.name, task);
    this.#waiting.push(task);
    this.onCreate(task);
    return 'created';
  }

  /** Takes out the tasks whose time has come. */
  take(now: number): Task[] {
    const due = this.#waiting.filter(({ scheduleTime }) => (scheduleTime ?? 0) <= now);
    this.#waiting = this.#waiting.filter((task) => !due.includes(task));
    return due;
  }

  /** Loses every task that waits, though it was accepted. */
  lose(): void {
    this.#waiting = [];
  }

  /** The port of one instance. */
  port(gate: Gate): Tasks {
    return {
      create: async (task) =>
        through(gate, { port: 'tasks', method: 'create', resource: task.queue }, () => this.create(task)),
    };
  }
}
