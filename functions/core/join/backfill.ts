import type { Micros } from '../event.ts';
import type { Days } from './days.ts';
import type { Reads } from './sql.ts';

const DAY: Micros = 86_400e6;

/** A backfill in progress: event times `[from, to)`, done up to `next`. */
export interface Backfill {
  readonly from: Micros;
  readonly to: Micros;
  readonly next: Micros;
  /** Most days of one step; halved when a step fails for good. */
  readonly days: number;
}

export type Range = Extract<Reads, { kind: 'range' }>;

/** The step that follows, which ends at a day's boundary; null when the backfill is done. */
export function nextStep(backfill: Backfill, now: Micros): Range | null {
  const { next, to, days } = backfill;
  if (next >= to) return null;
  const end = (Math.floor(next / DAY) + days) * DAY;
  return { kind: 'range', from: next, to: Math.min(end, to), end: now };
}

/** All steps, as they are when nothing fails. */
export function steps(backfill: Backfill, now: Micros): readonly Range[] {
  const result: Range[] = [];
  for (let step = nextStep(backfill, now); step !== null; step = nextStep({ ...backfill, next: step.to }, now))
    result.push(step);
  return result;
}

/** The days that a step touches. */
export function daysOf({ from, to }: Range): Days {
  const first = Math.floor(from / DAY);
  const count = Math.ceil(to / DAY) - first;
  return { days: Array.from({ length: count }, (_, i) => first + i), untimed: false };
}

/** The backfill after a step has ended; a step of another backfill changes nothing. */
export function afterStep(backfill: Backfill | null, step: Range): Backfill | null {
  if (backfill === null || step.from > backfill.next || step.to <= backfill.next) return backfill;
  return { ...backfill, next: Math.min(step.to, backfill.to) };
}

/** The backfill after a step has failed for good. */
export function shorter(backfill: Backfill | null): Backfill | null {
  return backfill === null ? null : { ...backfill, days: Math.max(1, Math.floor(backfill.days / 2)) };
}
