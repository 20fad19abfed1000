import type { Micros } from '../../functions/core/event.ts';
import type { Task, Tasks } from '../../functions/ports.ts';
import { through, type Gate } from './gate.ts';

/** A name stays taken so long after its task is done. */
export const DEDUPE_WINDOW: Micros = 3600e6;

/** Named tasks of one queue; shared by all instances. Whoever dispatches them says when one is done. */
export class FakeQueue {
  /** Until when each name is taken; Infinity while its task is not done. */
  readonly #taken = new Map<string, Micros>();
  readonly #now: () => Micros;
  /** Called for every task as it is created. */
  onCreate: (task: Task) => void = () => undefined;

  constructor(now: () => Micros) {
    this.#now = now;
  }

  create(task: Task): 'created' | 'exists' {
    if (!/^[\w-]{1,500}$/.test(task.name)) throw new Error(`illegal task name ${task.name}`);
    if ((this.#taken.get(task.name) ?? 0) > this.#now()) return 'exists';
    this.#taken.set(task.name, Infinity);
    this.onCreate(task);
    return 'created';
  }

  /** The task is over; its name may be used again some time later. */
  done(name: string): void {
    this.#taken.set(name, this.#now() + DEDUPE_WINDOW);
  }

  /** Names of tasks that are not done. */
  live(): readonly string[] {
    return [...this.#taken].flatMap(([name, until]) => (until === Infinity ? [name] : []));
  }

  /** The port of one instance. */
  port(gate: Gate): Tasks {
    return {
      create: async (task) =>
        through(gate, { port: 'tasks', method: 'create', resource: task.name }, () => this.create(task)),
    };
  }
}
