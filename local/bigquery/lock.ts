import { BigQueryError } from './errors.ts';

/** Runs one task after the other, in order of arrival. */
export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(task);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}

/** BigQuery runs two mutating statements at a time on one table and lets twenty more wait. */
const OUTSTANDING = 22;

/** One mutating statement at a time per table; the 23rd that is there at once is refused. */
export class MutationQueues {
  readonly #queues = new Map<string, { mutex: Mutex; outstanding: number }>();

  async run<T>(table: string, task: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(table) ?? { mutex: new Mutex(), outstanding: 0 };
    if (queue.outstanding >= OUTSTANDING) {
      throw new BigQueryError('resourcesExceeded', `Too many DML statements outstanding against table ${table}`);
    }
    this.#queues.set(table, queue);
    queue.outstanding += 1;
    try {
      return await queue.mutex.run(task);
    } finally {
      queue.outstanding -= 1;
      if (queue.outstanding === 0) this.#queues.delete(table);
    }
  }
}
