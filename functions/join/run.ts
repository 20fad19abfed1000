import { begin, blocked, finish, giveUp, place, update, type Cursor, type Run } from '../core/join/cursor.ts';
import { parts, type Days } from '../core/join/days.ts';
import { countsSql, mergeSql, probeSql, type Reads } from '../core/join/sql.ts';
import { planWindow } from '../core/join/window.ts';
import { toError } from '../core/errors.ts';
import type { JoinContext } from './context.ts';
import { CursorDocument, type HeldCursor } from './cursor-document.ts';
import { publishRun } from './publish.ts';
import { currentRun, enter, execute, IncurableError } from './steps.ts';

/** What a tick of a join did. */
export interface JoinReport {
  readonly join: string;
  /** `busy`: another run is alive. `done`: caught up. `more`: stopped before it had caught up. */
  readonly outcome: 'busy' | 'done' | 'more';
  readonly windows: number;
  readonly published: number;
  /** Everything committed before it was processed; epoch microseconds as text. */
  readonly position: string | null;
}

/**
 * One tick: takes the lease, resumes a saved run or plans the next, and goes on until it has caught up or its time is
 * over. Every step is saved before it is taken, so the next tick goes on wherever this one stops.
 *
 * @throws TransientError, AmbiguousError: nothing is lost, the next tick goes on
 */
export async function runJoin(context: JoinContext): Promise<JoinReport> {
  const { config, join, log, ports } = context;
  const deadline = ports.clock.now() + config.joinBudget;
  const document = new CursorDocument(ports.store, ports.clock, join.name);
  const held = await document.take(ports.ids.random(), config.joinLease);
  if (held === null) return { join: join.name, outcome: 'busy', windows: 0, published: 0, position: null };
  let windows = 0;
  let published = 0;
  let more = true;
  try {
    while (more && ports.clock.now() < deadline) {
      if (held.cursor.run === null && !(await plan(context, held))) {
        more = false;
        break;
      }
      more = currentRun(held).more;
      published += await processRun(context, held);
      windows += 1;
    }
    const position = held.cursor.position;
    return {
      join: join.name,
      outcome: more ? 'more' : 'done',
      windows,
      published,
      position: position === null ? null : String(position),
    };
  } catch (error) {
    if (blocked(held.cursor)) {
      log({
        severity: 'CRITICAL',
        event: 'join.blocked',
        failures: held.cursor.failures,
        message: toError(error).message,
      });
    }
    throw error;
  } finally {
    await held.release().catch((error: unknown) => {
      log({
        severity: 'WARNING',
        event: 'join.release_failed',
        message: `${toError(error).message}; the lease runs out by itself`,
      });
    });
  }
}

/** Plans the next window and saves it; false when there is nothing to do yet. */
async function plan(context: JoinContext, held: HeldCursor): Promise<boolean> {
  const { config, join, log, ports, tables } = context;
  const { position: cursor, shrink, daysPerMerge } = held.cursor;
  const [clock, created] = await Promise.all([ports.warehouse.now(), ports.warehouse.created(tables.source)]);
  const planned = planWindow({
    cursor,
    clock,
    created,
    start: join.start,
    lookback: join.lookback,
    step: join.step / 2 ** shrink,
    lag: join.lag,
    timeTravel: config.timeTravel,
    margin: config.timeTravelMargin,
  });
  log({
    severity: 'INFO',
    event: 'join.plan',
    situation: planned.kind,
    cursor,
    ...planned,
    lagSeconds: cursor === null ? 0 : (clock - cursor) / 1e6,
  });
  let reads: Reads;
  switch (planned.kind) {
    case 'first':
      await held.save((c) => place(c, planned.position));
      return plan(context, held);
    case 'idle':
      return false;
    case 'too_old':
      log({
        severity: 'ERROR',
        event: 'join.scan',
        message: 'the cursor has left time travel; the whole source is scanned once against the ledger',
        cursor,
      });
      reads = { kind: 'scan', from: planned.from, end: planned.end };
      break;
    case 'normal':
    case 'catching_up':
      reads = { kind: 'window', start: planned.start, end: planned.end };
  }
  const run: Run = {
    id: ports.ids.random(),
    reads,
    more: planned.kind === 'catching_up',
    days: null,
    daysPerMerge,
    step: 'probe',
    attempt: 1,
    published: '',
    count: 0,
    merged: 0,
    abandoned: false,
    previous: cursor,
  };
  await held.save((c) => begin(c, run));
  return true;
}

/** Takes the run in progress to its end; the rows published. */
async function processRun(context: JoinContext, held: HeldCursor): Promise<number> {
  const { join, log } = context;
  const runId = currentRun(held).id;
  try {
    const days = currentRun(held).days ?? (await probe(context, held));
    if (days.days.length > 0 || days.untimed) await merge(context, held, days);
  } catch (error) {
    if (!(error instanceof IncurableError)) throw error;
    // What was merged before the failure is in the ledger under this run's id and has to go out with it.
    if (currentRun(held).merged === 0) {
      await held.save((c) => giveUp(c, runId, join.step));
      throw error;
    }
    log({ severity: 'WARNING', event: 'join.abandoned', message: error.message });
    await held.save((c) => update(c, runId, { abandoned: true }));
  }
  const run = currentRun(held);
  const published = run.merged > 0 ? await publishRun(context, held) : 0;
  if (currentRun(held).abandoned) {
    await held.save((c) => giveUp(c, runId, join.step));
    throw new IncurableError('merge', 'abandoned', 'a part of the window could not be merged');
  }
  const counts = await count(context, held);
  await held.save((c) => finish(c, runId));
  log({
    severity: 'INFO',
    event: 'join.window',
    runId,
    start: startOf(run.reads),
    end: run.reads.end,
    published,
    ...counts,
  });
  return published;
}

function startOf(reads: Reads): number {
  return reads.kind === 'window' ? reads.start : reads.from;
}

/** Finds the event days of the window; they are saved before anything uses them, so a resume never asks again. */
async function probe(context: JoinContext, held: HeldCursor): Promise<Days> {
  const run = currentRun(held);
  const job = await execute(context, held, 'probe', probeSql(context.join, context.tables, run.reads));
  const days: number[] = [];
  let untimed = false;
  let token: string | null = null;
  do {
    const page = await context.ports.warehouse.page(job.jobId, token, 10_000);
    if (page === null) throw new IncurableError('probe', 'expired', 'its result has expired');
    for (const { day } of page.rows) {
      if (day == null) untimed = true;
      else days.push(Number(day));
    }
    token = page.next;
  } while (token !== null);
  const found = { days, untimed };
  await held.save((c) => update(c, run.id, { days: found, step: 'merge-0', attempt: 1 }));
  return found;
}

async function merge(context: JoinContext, held: HeldCursor, days: Days): Promise<void> {
  const run = currentRun(held);
  if (run.abandoned) return;
  for (const [i, part] of parts(days, run.daysPerMerge).entries()) {
    if (i < currentRun(held).merged) continue;
    await enter(held, `merge-${i}`);
    await execute(context, held, `merge-${i}`, mergeSql(context.join, context.tables, run.reads, part, run.id));
    await held.save((c) => update(c, run.id, { merged: i + 1 }));
  }
}

/** Counts what became of the identities that are new since the last window. Only for the log: its failure changes nothing. */
async function count(context: JoinContext, held: HeldCursor): Promise<Record<string, number>> {
  const { reads, days, previous } = currentRun(held);
  if (days === null || (days.days.length === 0 && !days.untimed) || reads.kind === 'scan') return {};
  const fresh: Reads = { ...reads, start: Math.max(reads.start, previous ?? reads.start) };
  try {
    await enter(held, 'counts');
    const job = await execute(context, held, 'counts', countsSql(context.join, context.tables, fresh, days));
    const row = (await context.ports.warehouse.page(job.jobId, null, 1))?.rows[0] ?? {};
    return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]));
  } catch (error) {
    if (toError(error) instanceof IncurableError) {
      context.log({ severity: 'WARNING', event: 'join.counts_failed', message: toError(error).message });
      return {};
    }
    throw error;
  }
}

export type { Cursor };
