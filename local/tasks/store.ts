import { JsonJournal } from '../shared/journal.ts';
import type { Task } from './task.ts';
import type { QueueSettings } from './wire.ts';

/** A task with its body as base64. */
type StoredTask = Omit<Task, 'http' | 'running'> & { http: Omit<Task['http'], 'body'> & { body: string } };

/** One line of the journal. */
type Entry =
  | { queue: QueueSettings }
  | { noQueue: string }
  | { task: StoredTask }
  /** A task that is gone, and until when its name is taken. */
  | { done: string; until: number };

/** What a journal tells when it is read again. */
export interface Replay {
  queue(settings: QueueSettings): void;
  noQueue(name: string): void;
  task(task: Task): void;
  done(name: string, until: number): void;
}

/** Queues, tasks and taken names in a file. A task is in the file before its creation is acknowledged. */
export class Store {
  readonly #journal: JsonJournal<Entry>;
  constructor(dir: string) {
    this.#journal = new JsonJournal(dir, 'tasks.journal');
  }

  replay(to: Replay): void {
    this.#journal.replay((entry) => {
      if ('queue' in entry) to.queue(entry.queue);
      else if ('noQueue' in entry) to.noQueue(entry.noQueue);
      else if ('task' in entry) to.task(restore(entry.task));
      else to.done(entry.done, entry.until);
    });
  }

  /** Rewrites the file with the present state alone. */
  compact(queues: Iterable<QueueSettings>, tasks: Iterable<Task>, names: Iterable<[string, number]>): void {
    this.#journal.compact(present(queues, tasks, names));
  }

  /** True when it is time to compact. */
  get grown(): boolean {
    return this.#journal.grown;
  }

  queue(settings: QueueSettings): void {
    this.#journal.write({ queue: settings });
  }

  noQueue(name: string): void {
    this.#journal.write({ noQueue: name });
  }

  created(task: Task): void {
    this.#journal.write({ task: stored(task) });
  }

  /** One that is lost with the process only means that an attempt counts as not made. */
  changed(task: Task): void {
    this.#journal.defer({ task: stored(task) });
  }

  done(name: string, until: number): void {
    this.#journal.defer({ done: name, until });
  }

  close(): void {
    this.#journal.close();
  }
}

function* present(
  queues: Iterable<QueueSettings>,
  tasks: Iterable<Task>,
  names: Iterable<[string, number]>,
): Generator<Entry> {
  for (const queue of queues) yield { queue };
  for (const task of tasks) yield { task: stored(task) };
  for (const [done, until] of names) yield { done, until };
}

function stored({ running: _running, ...task }: Task): StoredTask {
  return { ...task, http: { ...task.http, body: task.http.body.toString('base64') } };
}

function restore(task: StoredTask): Task {
  return { ...task, http: { ...task.http, body: Buffer.from(task.http.body, 'base64') }, running: 0 };
}
