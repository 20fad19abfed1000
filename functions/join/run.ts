import { begin, blocked, newRun, place } from '../core/join/cursor.ts';
import type { Reads } from '../core/join/sql.ts';
import { planWindow } from '../core/join/window.ts';
import { toError } from '../core/errors.ts';
import type { JoinContext } from './context.ts';
import { CursorDocument, type HeldCursor } from './cursor-document.ts';
import { processRun } from './process.ts';
import { currentRun } from './steps.ts';

/** What a tick of a join did. */
export interface JoinReport {
  readonly join: string;
  /** `busy`: another run is alive. `done`: caught up. `more`: stopped before it had caught up. */
  readonly outcome: 'busy' | 'done' | 'more';
  readonly windows: number;
  /** Those of them that were scans of the whole table, because the cursor had left time travel. */
  readonly scans: number;
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
  if (held === null) return { join: join.name, outcome: 'busy', windows: 0, scans: 0, published: 0, position: null };
  let windows = 0;
  let scans = 0;
  let published = 0;
  let more = true;
  try {
    while (more && ports.clock.now() < deadline) {
      if (held.cursor.run === null && !(await plan(context, held))) {
        more = false;
        break;
      }
      const run = currentRun(held);
      more = run.more;
      published += await processRun(context, held);
      windows += 1;
      if (run.reads.kind === 'scan') scans += 1;
    }
    const position = held.cursor.position;
    return {
      join: join.name,
      outcome: more ? 'more' : 'done',
      windows,
      scans,
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
export async function plan(context: JoinContext, held: HeldCursor): Promise<boolean> {
  const { config, join, log, ports, tables } = context;
  const { position: cursor, shrink, daysPerMerge } = held.cursor;
  const [clock, created] = await Promise.all([ports.warehouse.now(), ports.warehouse.created(tables.source)]);
  const planned = planWindow({
    cursor,
    clock,
    created,
    start: join.start,
    lookback: join.lookback,
    step: Math.floor(join.step / 2 ** shrink),
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
      reads = { kind: 'scan', from: planned.from, end: planned.end };
      break;
    case 'normal':
    case 'catching_up':
      reads = { kind: 'window', start: planned.start, end: planned.end };
  }
  const run = newRun(ports.ids.random(), reads, {
    more: planned.kind === 'catching_up',
    daysPerMerge,
    previous: cursor,
  });
  await held.save((c) => begin(c, run));
  return true;
}
