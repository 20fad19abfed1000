import { daysOf, nextStep, type Backfill } from '../core/join/backfill.ts';
import { begin, MAX_DAYS_PER_MERGE, newRun, type Cursor } from '../core/join/cursor.ts';
import { AmbiguousError, TransientError } from '../core/errors.ts';
import type { Micros } from '../core/event.ts';
import type { JoinContext } from './context.ts';
import { CursorDocument, type HeldCursor } from './cursor-document.ts';
import { processRun } from './process.ts';
import { plan } from './run.ts';
import { currentRun, IncurableError } from './steps.ts';

export interface BackfillRequest {
  /** Event times `[from, to)`, epoch microseconds. */
  readonly from: Micros;
  readonly to: Micros;
  /** Most days of one step. */
  readonly days: number;
  /** Forgets how far a backfill came that has not ended. */
  readonly restart?: boolean;
}

export interface BackfillProgress {
  /** Done up to this event time. */
  readonly next: Micros;
  readonly to: Micros;
  readonly published: number;
}

export interface BackfillReport {
  /** `busy`: a run of the join is alive. `other`: a backfill of another range has not ended. */
  readonly outcome: 'done' | 'busy' | 'other';
  /** The backfill that was found: where it went on, or what has to end first. */
  readonly found: Backfill | null;
  readonly published: number;
}

/** Pauses after failures that may pass, in milliseconds; after the last one the command ends and can be repeated. */
const PAUSES = [1_000, 5_000, 20_000, 60_000];

/**
 * Publishes what the join finds among the events of a range of event times and has not published yet. Its steps are runs
 * of the join like any other, under the join's own lease; its progress is in the cursor. After each step the live
 * windows catch up, because ticks answer `busy` meanwhile. Stopped anywhere, it goes on when it is called again; a step
 * that was under way is ended by whoever comes first, this command or a tick.
 *
 * @throws IncurableError when a single day fails for good; TransientError `lease_lost` when another run took over
 */
export async function runBackfill(
  context: JoinContext,
  request: BackfillRequest,
  progress: (done: BackfillProgress) => void = () => undefined,
): Promise<BackfillReport> {
  const { config, join, ports } = context;
  const document = new CursorDocument(ports.store, ports.clock, join.name);
  const held = await document.take(ports.ids.random(), config.joinLease);
  if (held === null) return { outcome: 'busy', found: null, published: 0 };
  try {
    const found = request.restart === true ? null : held.cursor.backfill;
    if (found !== null && (found.from !== request.from || found.to !== request.to))
      return { outcome: 'other', found, published: 0 };
    let published = 0;
    await held.save((c) => beginBackfill(c, request, found));
    for (;;) {
      const count = await persistently(context, () => step(context, held));
      if (count === null) break;
      published += count;
      const { next, to } = held.cursor.backfill!;
      progress({ next, to, published });
    }
    await held.save((c) => ({ ...c, backfill: null }));
    return { outcome: 'done', found, published };
  } finally {
    // It runs out by itself.
    await held.release().catch(() => undefined);
  }
}

function beginBackfill(cursor: Cursor, { from, to, days }: BackfillRequest, found: Backfill | null): Cursor {
  return { ...cursor, backfill: { from, to, next: found?.next ?? from, days } };
}

/** Ends the run that is saved, takes the next step, lets the live windows catch up; the rows published, null at the end. */
async function step(context: JoinContext, held: HeldCursor): Promise<number | null> {
  const { log, ports } = context;
  let published = 0;
  if (held.cursor.run !== null) published += await processRun(context, held);
  const reads = nextStep(held.cursor.backfill!, await ports.warehouse.now());
  if (reads === null && published === 0) return null;
  if (reads !== null) {
    const { position: previous } = held.cursor;
    const run = newRun(ports.ids.random(), reads, {
      more: true,
      daysPerMerge: MAX_DAYS_PER_MERGE,
      previous,
      days: daysOf(reads),
    });
    await held.save((c) => begin(c, run));
    try {
      published += await processRun(context, held);
    } catch (error) {
      if (!(error instanceof IncurableError) || (held.cursor.backfill?.days ?? 1) >= run.days!.days.length) throw error;
      log({ severity: 'WARNING', event: 'join.backfill_shorter', message: error.message });
    }
  }
  // As a tick does: the clock goes on meanwhile, so there is always a little more.
  for (let more = true; more && (await plan(context, held));) {
    more = currentRun(held).more;
    await processRun(context, held);
  }
  return published;
}

/** Repeats what failed for a reason that may pass. What was done is saved, so a repetition goes on from there. */
async function persistently<T>({ log, ports }: JoinContext, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const pause = PAUSES[attempt];
      const passing =
        error instanceof AmbiguousError || (error instanceof TransientError && error.code !== 'lease_lost');
      if (!passing || pause === undefined) throw error;
      log({ severity: 'WARNING', event: 'join.backfill_pause', message: error.message, pause });
      await ports.clock.sleep(pause);
    }
  }
}
