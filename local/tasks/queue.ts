import { backoff } from '../scheduler/definition.ts';
import { background } from '../shared/background.ts';
import { DueQueue } from '../shared/due.ts';
import type { Outcome } from '../shared/http-out.ts';
import { Queue as Fifo } from '../shared/queue.ts';
import { toMs } from '../shared/wire.ts';
import { attempt, succeeded, type DispatchEnv } from './dispatch.ts';
import { Pace } from './pace.ts';
import type { Task } from './task.ts';
import type { QueueSettings } from './wire.ts';

/** However it is set, no task lives longer. */
const RETENTION = 31 * 86_400_000;

export interface QueueEvents {
  /** A task changed and stays. */
  changed(task: Task): void;
  /** A task is done: it succeeded, ran out of attempts or was deleted. */
  removed(task: Task): void;
}

/** A moment of a task; void when the task is gone or has another one by now. */
interface Turn {
  readonly task: Task;
  readonly at: number;
}

/** The tasks of one queue, dispatched as its limits allow. */
export class TaskQueue {
  readonly tasks = new Map<string, Task>();
  readonly #env: DispatchEnv;
  readonly #events: QueueEvents;
  readonly #waiting: DueQueue<Turn>;
  readonly #ready = new Fifo<Turn>();
  readonly #pace: Pace;
  #settings: QueueSettings;
  #running = 0;
  #closed = false;
  #cancelPause: (() => void) | undefined;

  constructor(settings: QueueSettings, env: DispatchEnv, events: QueueEvents) {
    this.#settings = settings;
    this.#env = env;
    this.#events = events;
    this.#pace = new Pace(settings.rateLimits!, env.time.now());
    this.#waiting = new DueQueue(env.time, (turn) => {
      this.#ready.push(turn);
      this.#pump();
    });
  }

  get settings(): QueueSettings {
    return this.#settings;
  }

  set settings(settings: QueueSettings) {
    this.#settings = settings;
    this.#pace.change(settings.rateLimits!, this.#env.time.now());
    this.#pump();
  }

  /** Takes a task in. */
  add(task: Task): void {
    this.tasks.set(task.name, task);
    this.#schedule(task);
  }

  /** Deletes a task; what is under way of it goes on and changes nothing. */
  remove(task: Task): void {
    if (this.tasks.get(task.name) !== task) return;
    this.tasks.delete(task.name);
    this.#events.removed(task);
  }

  /** An attempt at once: whatever the limits, paused or not. */
  force(task: Task): void {
    task.scheduleTime = this.#env.time.now();
    background(this.#dispatch(task));
  }

  close(): void {
    this.#closed = true;
    this.#waiting.clear();
    this.#cancelPause?.();
  }

  #schedule(task: Task): void {
    const turn = { task, at: task.scheduleTime };
    if (turn.at > this.#env.time.now()) {
      this.#waiting.add(turn.at, turn);
      return;
    }
    this.#ready.push(turn);
    this.#pump();
  }

  #pump(): void {
    while (!this.#closed && !this.#cancelPause && this.#settings.state === 'RUNNING') {
      const turn = this.#ready.peek();
      if (turn === undefined) return;
      const { task, at } = turn;
      if (this.tasks.get(task.name) !== task || task.scheduleTime !== at || task.running > 0) {
        this.#ready.shift();
        continue;
      }
      if (this.#running >= this.#settings.rateLimits!.maxConcurrentDispatches) return;
      const wait = this.#pace.take(this.#env.time.now());
      if (wait > 0) {
        this.#cancelPause = this.#env.time.setTimeout(() => {
          this.#cancelPause = undefined;
          this.#pump();
        }, wait);
        return;
      }
      this.#ready.shift();
      background(this.#dispatch(task));
    }
  }

  async #dispatch(task: Task): Promise<void> {
    const { time } = this.#env;
    const history = {
      retries: task.dispatchCount,
      responses: task.responseCount,
      previous: task.last?.status ?? null,
      eta: task.scheduleTime,
    };
    const dispatched = time.now();
    const begun = { scheduled: task.scheduleTime, dispatched };
    task.dispatchCount++;
    task.firstDispatch ??= dispatched;
    task.last = begun;
    task.running++;
    this.#running++;
    this.#events.changed(task);
    const outcome = await attempt(this.#env, task, history);
    task.running--;
    this.#running--;
    if (!this.#closed) {
      if (outcome.status > 0) task.responseCount++;
      const { status, error } = outcome;
      task.last = { ...begun, responded: time.now(), status, ...(error === undefined ? {} : { error }) };
      this.#settle(task, outcome);
    }
    this.#pump();
  }

  #settle(task: Task, outcome: Outcome): void {
    if (this.tasks.get(task.name) !== task) return;
    if (succeeded(outcome) || this.#isSpent(task)) {
      this.remove(task);
      return;
    }
    const { minBackoff, maxBackoff, maxDoublings } = this.#settings.retryConfig!;
    const pauses = { minBackoffMs: toMs(minBackoff)!, maxBackoffMs: toMs(maxBackoff)!, maxDoublings };
    task.scheduleTime = this.#env.time.now() + backoff(pauses, task.dispatchCount - 1);
    this.#events.changed(task);
    this.#schedule(task);
  }

  /** Both the attempts and the time must be used up, where both are limited. */
  #isSpent(task: Task): boolean {
    const { maxAttempts, maxRetryDuration } = this.#settings.retryConfig!;
    const now = this.#env.time.now();
    const limit = toMs(maxRetryDuration) ?? 0;
    const attemptsUsed = maxAttempts < 0 ? limit > 0 : task.dispatchCount >= maxAttempts;
    const timeUsed = limit <= 0 || now - (task.firstDispatch ?? now) >= limit;
    return (attemptsUsed && timeUsed) || now - task.created >= RETENTION;
  }
}
