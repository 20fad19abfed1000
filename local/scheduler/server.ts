import { Faults, StatusError } from '../shared/faults.ts';
import { HttpSender, type Outcome } from '../shared/http-out.ts';
import { Meter } from '../shared/meter.ts';
import type { ServerOptions } from '../shared/server.ts';
import { realTime, type Time } from '../shared/time.ts';
import { define, type Job } from './definition.ts';
import { Runner } from './runner.ts';

export type { Job } from './definition.ts';
export type { Outcome } from '../shared/http-out.ts';

export interface SchedulerOptions extends Pick<ServerOptions, 'faults' | 'meter'> {
  readonly time?: Time;
}

/**
 * Jobs that call HTTP endpoints on a schedule. Called in the process, without a port; jobs do not survive it. Methods
 * throw a StatusError: INVALID_ARGUMENT, NOT_FOUND or ALREADY_EXISTS.
 */
export interface SchedulerServer {
  createJob(job: Job): void;
  /** Creates the job or puts this one in its place. */
  putJob(job: Job): void;
  deleteJob(name: string): void;
  pauseJob(name: string): void;
  resumeJob(name: string): void;
  /** Runs the job every so many milliseconds instead of by its schedule; undefined goes back to the schedule. */
  setEvery(name: string, ms: number | undefined): void;
  /** Jobs and when each runs next (epoch milliseconds; Infinity when it is paused). */
  jobs(): { readonly name: string; readonly next: number }[];
  /**
   * One attempt at once, even when an execution is under way or the job is paused. Never rejects for what the endpoint
   * does: `status` is 0 when no answer came.
   */
  runNow(name: string): Promise<Outcome>;
  /** Ends the timers and the open requests. */
  stop(): Promise<void>;
}

const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;

/** Starts a scheduler without jobs. */
export async function startScheduler(options: SchedulerOptions = {}): Promise<SchedulerServer> {
  const { time = realTime, faults = new Faults(), meter = new Meter() } = options;
  const sender = new HttpSender(time);
  const env = { time, sender, faults, meter };
  const runners = new Map<string, Runner>();

  const find = (name: string): Runner => {
    const runner = runners.get(name);
    if (!runner) throw new StatusError(NOT_FOUND, `Job not found: ${name}`);
    return runner;
  };
  const change = (name: string, changes: { paused?: boolean; everyMs?: number | undefined }) => {
    const runner = find(name);
    const { everyMs, ...job } = { ...runner.job, ...changes };
    runner.job = define(everyMs === undefined ? job : { ...job, everyMs });
  };
  const putJob = (job: Job) => {
    const known = runners.get(job.name);
    if (known) known.job = define(job);
    else runners.set(job.name, new Runner(define(job), env));
  };
  return {
    createJob(job) {
      if (runners.has(job.name)) throw new StatusError(ALREADY_EXISTS, `Job already exists: ${job.name}`);
      putJob(job);
    },
    putJob,
    deleteJob(name) {
      find(name).stop();
      runners.delete(name);
    },
    pauseJob: (name) => change(name, { paused: true }),
    resumeJob: (name) => change(name, { paused: false }),
    setEvery: (name, everyMs) => change(name, { everyMs }),
    jobs: () => [...runners].map(([name, { next }]) => ({ name, next })),
    runNow: async (name) => find(name).runNow(),
    async stop() {
      for (const runner of runners.values()) runner.stop();
      runners.clear();
      sender.close();
    },
  };
}
