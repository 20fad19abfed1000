import { comparePosition, type Position } from './order.ts';

export interface Step extends Position {
  readonly status: string;
}

/**
 * The earliest events of a key: the longest prefix, by (time, id), that fits a count and a byte bound.
 *
 * `cut` is the first event that did not fit. More events only lengthen the prefix up to any event, so what did not fit
 * once never fits again: nothing at or after the cut is ever kept, and the order of arrival cannot matter.
 */
export interface Steps {
  readonly kept: readonly Step[];
  readonly bytes: number;
  readonly cut: Position | null;
}

export const NO_STEPS: Steps = { kept: [], bytes: 0, cut: null };

export interface StepBounds {
  readonly stepsKept: number;
  readonly stepsBytes: number;
}

/** Bytes that one step counts: its texts, its time and the framing. */
export function stepBytes(step: Step): number {
  return Buffer.byteLength(step.eventId) + Buffer.byteLength(step.status) + 16;
}

export function addStep(steps: Steps, step: Step, bounds: StepBounds): Steps {
  if (steps.cut !== null && comparePosition(step, steps.cut) >= 0) return steps;
  let at = steps.kept.length;
  while (at > 0 && comparePosition(step, steps.kept[at - 1]!) < 0) at--;
  const kept = steps.kept.toSpliced(at, 0, step);
  let bytes = steps.bytes + stepBytes(step);
  let cut = steps.cut;
  while (kept.length > bounds.stepsKept || bytes > bounds.stepsBytes) {
    const last = kept.pop()!;
    bytes -= stepBytes(last);
    cut = { time: last.time, eventId: last.eventId };
  }
  return { kept, bytes, cut };
}
