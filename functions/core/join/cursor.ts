import type { Micros } from '../event.ts';
import { afterStep, shorter, type Backfill } from './backfill.ts';
import type { Days } from './days.ts';
import type { Reads } from './sql.ts';

/**
 * The cursor of a join: position, lease and the run in progress, one document `cursors/{join}`.
 *
 * Every change after the lease was taken is a function of the current cursor that refuses (null) when the lease or the
 * run is not the caller's any more, and that changes nothing when its effect is already there. So a change whose answer
 * was lost is simply made again.
 */
export interface Cursor {
  /** Everything committed before it was processed; null before the first run. */
  readonly position: Micros | null;
  /** Fencing token of the newest lease; grows by one with each. */
  readonly token: number;
  readonly lease: Lease | null;
  readonly run: Run | null;
  /** Id of the run that ended last, so that ending it again is known as done. */
  readonly lastRun: string | null;
  /** How often the step is halved, because a window could not be processed whole. */
  readonly shrink: number;
  /** Days that one statement may touch; lowered when the shortest step still fails. */
  readonly daysPerMerge: number;
  /** Failures since the last success. */
  readonly failures: number;
  /** The backfill that was begun and has not ended. */
  readonly backfill: Backfill | null;
}

export interface Lease {
  readonly owner: string;
  readonly token: number;
  readonly until: Micros;
}

/** A run in progress: its window is saved before anything is asked about it. */
export interface Run {
  readonly id: string;
  readonly reads: Reads;
  /** Whether the step was capped, so that more windows follow. */
  readonly more: boolean;
  /** From the probe; null until then. */
  readonly days: Days | null;
  readonly daysPerMerge: number;
  /** The step in progress and the first of its attempts that is not known to have failed. */
  readonly step: string;
  readonly attempt: number;
  /** The last result id whose publication is confirmed; '' before the first. */
  readonly published: string;
  readonly count: number;
  /** Parts of the window that are in the ledger; they are published under this run whatever becomes of the rest. */
  readonly merged: number;
  /** A later part cannot be merged: the run is given up once its merged rows are published. */
  readonly abandoned: boolean;
  /** The cursor's position when the run was planned. */
  readonly previous: Micros | null;
}

/** Most days that one statement touches: BigQuery's limit of partitions modified by a job is 4,000. */
export const MAX_DAYS_PER_MERGE = 1000;

/** A run at its beginning; days that are known already save the probe. */
export function newRun(
  id: string,
  reads: Reads,
  { days = null, ...others }: Pick<Run, 'more' | 'daysPerMerge' | 'previous'> & { readonly days?: Days | null },
): Run {
  const step = days === null ? 'probe' : 'merge-0';
  return { id, reads, days, step, attempt: 1, published: '', count: 0, merged: 0, abandoned: false, ...others };
}

export const NEW_CURSOR: Cursor = {
  position: null,
  token: 0,
  lease: null,
  run: null,
  lastRun: null,
  shrink: 0,
  daysPerMerge: MAX_DAYS_PER_MERGE,
  failures: 0,
  backfill: null,
};

/** Takes the lease unless another live run holds it (null). */
export function takeLease(cursor: Cursor, owner: string, now: Micros, duration: Micros): Cursor | null {
  if (cursor.lease?.owner === owner) return cursor;
  if (cursor.lease !== null && cursor.lease.until > now) return null;
  const token = cursor.token + 1;
  return { ...cursor, token, lease: { owner, token, until: now + duration } };
}

/** The change under the lease with this token, or null when it was lost. An expired lease that nobody took is still held. */
export function fenced(cursor: Cursor, token: number, change: (cursor: Cursor) => Cursor | null): Cursor | null {
  return cursor.lease?.token === token ? change(cursor) : null;
}

export function renew(cursor: Cursor, now: Micros, duration: Micros): Cursor {
  return cursor.lease === null ? cursor : { ...cursor, lease: { ...cursor.lease, until: now + duration } };
}

export function begin(cursor: Cursor, run: Run): Cursor | null {
  if (cursor.run !== null) return cursor.run.id === run.id ? cursor : null;
  return { ...cursor, run };
}

/** A change of the run in progress. */
export function update(cursor: Cursor, runId: string, change: Partial<Omit<Run, 'id' | 'reads'>>): Cursor | null {
  if (cursor.run?.id !== runId) return null;
  // Progress is monotone, so that a repeated save cannot take it back.
  const published = change.published ?? '';
  if (change.published !== undefined && published < cursor.run.published) return null;
  return { ...cursor, run: { ...cursor.run, ...change } };
}

/** Ends the run and moves the cursor to the end of its window, never back; a step of a backfill moves only the backfill. */
export function finish(cursor: Cursor, runId: string): Cursor | null {
  if (cursor.lastRun === runId && cursor.run === null) return cursor;
  if (cursor.run?.id !== runId) return null;
  const { reads } = cursor.run;
  if (reads.kind === 'range') {
    return { ...cursor, run: null, lastRun: runId, backfill: afterStep(cursor.backfill, reads) };
  }
  return {
    ...cursor,
    position: Math.max(cursor.position ?? 0, reads.end),
    run: null,
    lastRun: runId,
    shrink: Math.max(0, cursor.shrink - 1),
    daysPerMerge: cursor.failures === 0 ? MAX_DAYS_PER_MERGE : cursor.daysPerMerge,
    failures: 0,
  };
}

/** A failed attempt; the run goes on with the next one. */
export function fail(cursor: Cursor, runId: string, step: string, attempt: number): Cursor | null {
  if (cursor.run?.id !== runId) return null;
  if (cursor.run.step === step && cursor.run.attempt > attempt) return cursor;
  // A backfill that fails is no reason for an alarm of the join.
  const failures = cursor.failures + (cursor.run.reads.kind === 'range' ? 0 : 1);
  return { ...cursor, run: { ...cursor.run, step, attempt: attempt + 1 }, failures };
}

/** The shortest step that halving may reach. */
const SHORTEST: Micros = 60e6;

/** Gives the run up, after every attempt of its job has ended in an error: the next plan is half as long, then day by day. */
export function giveUp(cursor: Cursor, runId: string, step: Micros): Cursor | null {
  if (cursor.lastRun === runId && cursor.run === null) return cursor;
  if (cursor.run?.id !== runId) return null;
  const { reads } = cursor.run;
  if (reads.kind === 'range') return { ...cursor, run: null, lastRun: runId, backfill: shorter(cursor.backfill) };
  // A shorter step makes no smaller scan; its days one by one cost no more than all at once.
  const halve = reads.kind === 'window' && step / 2 ** (cursor.shrink + 1) >= SHORTEST;
  return {
    ...cursor,
    run: null,
    lastRun: runId,
    shrink: halve ? cursor.shrink + 1 : cursor.shrink,
    daysPerMerge: halve ? cursor.daysPerMerge : 1,
    failures: cursor.failures + 1,
  };
}

/** Whether nothing is left to try but the same again: the alarm `join_blocked`. */
export function blocked(cursor: Cursor): boolean {
  return cursor.failures >= 3 || (cursor.daysPerMerge === 1 && cursor.failures > 0);
}

/** Sets the position of a cursor that has none. */
export function place(cursor: Cursor, position: Micros): Cursor {
  return cursor.position === null ? { ...cursor, position } : cursor;
}

export function release(cursor: Cursor): Cursor {
  return { ...cursor, lease: null };
}
