import { createHash } from 'node:crypto';
import { fail, update, type Run } from '../core/join/cursor.ts';
import type { Statement } from '../core/join/sql.ts';
import { AmbiguousError, PermanentError, TransientError } from '../core/errors.ts';
import type { JobState, QueryJob, Warehouse } from '../ports.ts';
import type { HeldCursor } from './cursor-document.ts';
import type { JoinContext } from './context.ts';

/** Shorter than the renewal of the lease. */
const WAIT_MS = 20_000;
const JOB_TIMEOUT_MS = 5 * 60_000;

/** A job that cannot succeed by being repeated. */
export class IncurableError extends Error {
  constructor(step: string, reason: string, message: string) {
    super(`the ${step} of the join failed for good (${reason}): ${message}`);
    this.name = 'IncurableError';
  }
}

/** Id of a job: predictable from what the cursor holds, so that whoever resumes the run finds the job. */
export function jobId(joinName: string, runId: string, step: string, attempt: number): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([runId, step, attempt]))
    .digest('hex')
    .slice(0, 32);
  return `codaflow_${joinName}_${step.replaceAll('-', '_')}_${hash}`;
}

/** Creates the job or finds that it was created; a lost answer is asked for once more. A refused statement never runs. */
async function start(warehouse: Warehouse, job: QueryJob): Promise<Extract<JobState, { state: 'failed' }> | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      await warehouse.start(job);
      return null;
    } catch (error) {
      if (error instanceof PermanentError) {
        return { state: 'failed', reason: error.code, message: error.message, curable: false };
      }
      if (!(error instanceof AmbiguousError) || attempt === 2) throw error;
    }
  }
}

/** Waits for a job and keeps the lease meanwhile. */
async function finished(context: JoinContext, held: HeldCursor, id: string): Promise<JobState> {
  const deadline = context.ports.clock.now() + (JOB_TIMEOUT_MS + 60_000) * 1000;
  for (;;) {
    const state = await context.ports.warehouse.wait(id, WAIT_MS);
    if (state.state !== 'running') return state;
    await held.save();
    if (context.ports.clock.now() > deadline) {
      throw new TransientError('deadline_exceeded', `job ${id} still runs; the next run waits for it again`);
    }
  }
}

export type Done = Extract<JobState, { state: 'done' }> & { readonly jobId: string };

/**
 * Runs one step of a run to its end: attaches to the job of an earlier attempt, or creates it; a failed attempt is
 * followed by the next predictable id.
 *
 * @throws IncurableError when the warehouse refuses the statement itself
 */
export async function execute(
  context: JoinContext,
  held: HeldCursor,
  step: string,
  statement: Statement,
): Promise<Done> {
  const { join, log, ports } = context;
  for (;;) {
    const run = currentRun(held);
    const attempt = run.step === step ? run.attempt : 1;
    const id = jobId(join.name, run.id, step, attempt);
    const refused = await start(ports.warehouse, {
      jobId: id,
      sql: statement.sql,
      parameters: statement.parameters,
      labels: { codaflow_join: join.name, codaflow_step: step.split('-')[0]! },
      timeoutMs: JOB_TIMEOUT_MS,
      maxBytesBilled: join.maxBytesBilled,
    });
    const state = refused ?? (await finished(context, held, id));
    switch (state.state) {
      case 'done':
        log({
          severity: 'DEBUG',
          event: 'join.step',
          step,
          jobId: id,
          bytesProcessed: state.bytesProcessed,
          bytesBilled: state.bytesBilled,
        });
        return { ...state, jobId: id };
      case 'absent':
      case 'running':
        throw new TransientError('not_ready', `job ${id} was not found after it was created`);
      case 'failed':
        await held.save((c) => fail(c, run.id, step, attempt));
        log({
          severity: 'WARNING',
          event: 'join.attempt_failed',
          step,
          jobId: id,
          attempt,
          reason: state.reason,
          message: state.message,
        });
        if (!state.curable) throw new IncurableError(step, state.reason, state.message);
        // One more try at once for what was likely a hiccup; after that the next tick goes on with the next id.
        if (attempt % 2 === 0) throw new TransientError('unavailable', `step ${step} failed: ${state.message}`);
    }
  }
}

/** Saves that a step begins, which also proves that the lease is still held. */
export async function enter(held: HeldCursor, step: string): Promise<void> {
  const run = currentRun(held);
  await held.save((c) => (c.run?.step === step ? c : update(c, run.id, { step, attempt: 1 })));
}

export function currentRun(held: HeldCursor): Run {
  const run = held.cursor.run;
  if (run === null) throw new Error('there is no run in progress');
  return run;
}
