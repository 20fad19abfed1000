import { background } from '../shared/background.ts';
import type { Outcome } from '../shared/http-out.ts';
import { LONGEST_DELAY } from '../shared/time.ts';
import { attempt, succeeded, type SchedulerEnv } from './attempt.ts';
import { backoff, type Definition } from './definition.ts';

/** Lets one job run when its time comes. */
export class Runner {
  readonly #env: SchedulerEnv;
  #job: Definition;
  #next = Infinity;
  #cancelTick: (() => void) | undefined;
  #endPause: (() => void) | undefined;
  #running = false;
  /** A moment that came while the execution before it was still under way. */
  #late: number | undefined;

  constructor(job: Definition, env: SchedulerEnv) {
    this.#env = env;
    this.#job = job;
    this.#plan();
  }

  get job(): Definition {
    return this.#job;
  }

  /** The coming execution, epoch milliseconds; Infinity when there is none. */
  get next(): number {
    return this.#next;
  }

  /** Changes the job; what is under way goes on as it was. */
  set job(job: Definition) {
    this.#job = job;
    this.#plan();
  }

  /** One attempt at once, whatever else is under way. */
  async runNow(): Promise<Outcome> {
    return attempt(this.#env, this.#job, this.#env.time.now());
  }

  stop(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
    this.#next = Infinity;
    this.#late = undefined;
    this.#endPause?.();
  }

  #plan(): void {
    this.stop();
    if (this.#job.paused) return;
    const now = this.#env.time.now();
    this.#next = this.#job.everyMs === undefined ? this.#job.next(now) : now + this.#job.everyMs;
    this.#arm();
  }

  #arm(): void {
    if (this.#next === Infinity) return;
    const delay = Math.max(this.#next - this.#env.time.now(), 0);
    this.#cancelTick = this.#env.time.setTimeout(() => this.#tick(), Math.min(delay, LONGEST_DELAY));
  }

  #tick(): void {
    const { everyMs } = this.#job;
    const now = this.#env.time.now();
    if (now >= this.#next) {
      const scheduled = this.#next;
      // Moments that passed unseen, while the machine slept, are skipped.
      this.#next = everyMs === undefined ? this.#job.next(now) : now + everyMs;
      // The next moment ends the retries of the execution before it.
      this.#endPause?.();
      if (this.#running) this.#late = scheduled;
      else background(this.#execute(scheduled));
    }
    this.#arm();
  }

  /** An execution and those that came due meanwhile, one after the other. */
  async #execute(scheduled: number): Promise<void> {
    this.#running = true;
    for (let moment: number | undefined = scheduled; moment !== undefined;) {
      await this.#attempts(this.#job, moment);
      moment = this.#late;
      this.#late = undefined;
    }
    this.#running = false;
  }

  async #attempts(job: Definition, scheduled: number): Promise<void> {
    const { time, meter } = this.#env;
    const { retryCount, maxRetryDurationMs } = job.retry;
    const end = maxRetryDurationMs > 0 ? time.now() + maxRetryDurationMs : Infinity;
    meter.add('scheduler.executions');
    for (let n = 0; ; n++) {
      if (succeeded(await attempt(this.#env, job, scheduled))) return;
      meter.add('scheduler.failures');
      const pause = backoff(job.retry, n);
      if (n >= retryCount || this.#late !== undefined || time.now() + pause > end) return;
      if (!(await this.#pause(pause))) return;
    }
  }

  /** True when it lasted its time; false when it was cut short. */
  #pause(ms: number): Promise<boolean> {
    if (this.#next === Infinity) return Promise.resolve(false);
    return new Promise((resolve) => {
      const finish = (whole: boolean) => {
        cancel();
        this.#endPause = undefined;
        resolve(whole);
      };
      const cancel = this.#env.time.setTimeout(() => finish(true), ms);
      this.#endPause = () => finish(false);
    });
  }
}
