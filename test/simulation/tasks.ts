import type { Micros } from '../../functions/core/event.ts';
import type { Instance } from './instance.ts';

/** Something that will happen, at the earliest at a moment of the virtual clock. */
export interface Task {
  readonly label: string;
  readonly from: Micros;
  /** Whose call it is; it never happens once that instance is gone. */
  readonly instance: Instance | null;
  /** Goes on for ever (the scheduler), so it keeps nobody from being quiet. */
  readonly background: boolean;
  readonly run: () => void;
}

/** The tasks in the order in which they came up. */
export class Tasks {
  #tasks: Task[] = [];

  add(label: string, from: Micros, run: () => void, more: { instance?: Instance; background?: boolean } = {}): void {
    const { instance = null, background = false } = more;
    this.#tasks.push({ label, from, run, instance, background });
  }

  runnable(now: Micros): Task[] {
    return this.#tasks.filter((task) => task.from <= now);
  }

  take(task: Task): void {
    this.#tasks.splice(this.#tasks.indexOf(task), 1);
  }

  drop(instance: Instance): void {
    this.#tasks = this.#tasks.filter((task) => task.instance !== instance);
  }

  /** When the next task can happen; null when there is none. */
  next(): Micros | null {
    return this.#tasks.length === 0 ? null : this.#tasks.reduce((min, { from }) => Math.min(min, from), Infinity);
  }

  /** What is left to do besides the scheduler. */
  pending(): readonly Task[] {
    return this.#tasks.filter((task) => !task.background);
  }
}
