import { createHash } from 'node:crypto';
import { fail, update, type Run } from '../core/join/cursor.ts';
import { locate } from '../core/join/locate.ts';
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

/** Fails whenever it runs: it only takes up an id. */
const NOTHING = "SELECT ERROR('this attempt was refused; nobody may begin it any more')";

/**
 * Creates the job or finds that it was created; a lost answer is asked for once more.
 *
 * A refused statement does not run now, but another instance may have sent the same one, and it may arrive when nothing
 * speaks against it any more: rows of a run that was given up would reach the ledger and never be published. So its id
 * is taken up by a job that fails. The refusal, or null.
 */
async function start(warehouse: Warehouse, job: QueryJob): Promise<PermanentError | null> {
  try {
    await insert(warehouse, job);
    return null;
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    await insert(warehouse, { ...job, sql: NOTHING, parameters: {} }).catch((second: unknown) => {
      // A warehouse that refuses even this keeps refused jobs itself.
      if (!(second instanceof PermanentError)) throw second;
    });
    return error;
  }
}

async function insert(warehouse: Warehouse, job: QueryJob): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await warehouse.start(job);
      return;
    } catch (error) {
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
      // It is not given up: as long as it is not known to have failed, it may still write. The next run looks again.
      await context.ports.warehouse.cancel(id);
      throw new TransientError('deadline_exceeded', `job ${id} still runs; the next run waits for its end`);
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
    const refusal = await start(ports.warehouse, {
      jobId: id,
      sql: statement.sql,
      parameters: statement.parameters,
      labels: { codaflow_join: join.name, codaflow_step: step.split('-')[0]! },
      timeoutMs: JOB_TIMEOUT_MS,
      maxBytesBilled: join.maxBytesBilled,
    });
    const ended = await finished(context, held, id);
    // What refused the statement says more than the job that took up its id, or than no job at all.
    const state: JobState =
      refusal !== null && (ended.state === 'failed' || ended.state === 'absent')
        ? { state: 'failed', reason: refusal.code, message: refusal.message, curable: false }
        : ended;
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
      case 'failed': {
        const message = locate(join, statement.sql, state.message);
        await held.save((c) => fail(c, run.id, step, attempt));
        log({
          severity: 'WARNING',
          event: 'join.attempt_failed',
          step,
          jobId: id,
          attempt,
          reason: state.reason,
          message,
        });
        if (!state.curable) throw new IncurableError(step, state.reason, message);
        // One more try at once for what was likely a hiccup; after that the next tick goes on with the next id.
        if (attempt % 2 === 0) throw new TransientError('unavailable', `step ${step} failed: ${message}`);
      }
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
