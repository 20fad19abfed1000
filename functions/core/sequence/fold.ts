import type { Event, Micros } from '../event.ts';
import { aggregate, type Aggregate } from './aggregate.ts';
import { addAll, isExactly, LARGEST_NUMBER, type NumberSet } from './numbers.ts';
import { comparePosition } from './order.ts';
import { locate } from './pointer.ts';
import type { Rules } from './rules.ts';
import { addStep, NO_STEPS, type Step, type Steps } from './steps.ts';

/** Everything that a summary says about a set of events. Equal sets have equal folds, whatever their order. */
export interface Fold {
  readonly count: number;
  readonly firstTime: Micros;
  readonly lastTime: Micros;
  /** The latest completion event. */
  readonly coda: Step | null;
  /** Largest `sequence` of the completion events: the announced total. */
  readonly total: number | null;
  readonly numbers: NumberSet;
  /** Some `sequence` was larger than the set can hold. */
  readonly beyond: boolean;
  readonly steps: Steps;
  /** By JSON pointer. */
  readonly fields: ReadonlyMap<string, Aggregate>;
}

export const EMPTY_FOLD: Fold = {
  count: 0,
  firstTime: 0,
  lastTime: 0,
  coda: null,
  total: null,
  numbers: [],
  beyond: false,
  steps: NO_STEPS,
  fields: new Map(),
};

/** Adds events that are not in the fold yet. */
export function addEvents(fold: Fold, events: readonly Event[], rules: Rules): Fold {
  const numbers = events.flatMap(({ sequence }) => (sequence === null || sequence > LARGEST_NUMBER ? [] : [sequence]));
  const added = events.reduce((known, event) => addEvent(known, event, rules), fold);
  return { ...added, numbers: addAll(fold.numbers, numbers) };
}

/** All but its number. */
function addEvent(fold: Fold, event: Event, rules: Rules): Fold {
  const step: Step = { time: event.eventTime, eventId: event.eventId, status: event.eventStatus };
  const isCoda = rules.completionStatuses.has(event.eventStatus);
  const n = event.sequence;
  return {
    count: fold.count + 1,
    firstTime: fold.count === 0 ? step.time : Math.min(fold.firstTime, step.time),
    lastTime: fold.count === 0 ? step.time : Math.max(fold.lastTime, step.time),
    coda: isCoda && (fold.coda === null || comparePosition(step, fold.coda) > 0) ? step : fold.coda,
    total: isCoda && n !== null ? Math.max(fold.total ?? 0, n) : fold.total,
    numbers: fold.numbers,
    beyond: fold.beyond || (n !== null && n > LARGEST_NUMBER),
    steps: addStep(fold.steps, step, rules),
    fields: addFields(fold.fields, event, rules),
  };
}

function addFields(fields: Fold['fields'], event: Event, rules: Rules): Fold['fields'] {
  const { payload } = event;
  if (payload === null || rules.pointers.length === 0) return fields;
  const next = new Map(fields);
  for (const pointer of rules.pointers) {
    const source = locate(payload, pointer);
    if (source === null) continue;
    const value = aggregate(next.get(pointer.text), source, { time: event.eventTime, eventId: event.eventId });
    if (value !== undefined) next.set(pointer.text, value);
  }
  return next;
}

/**
 * Whether a key with a completion event has all that was announced: with numbers, exactly 1..N (N from the completion
 * events; where they carry none, no gap below the largest number); without numbers, the completion event suffices.
 */
export function isComplete(fold: Fold): boolean {
  if (fold.coda === null || fold.beyond) return false;
  const total = fold.total ?? fold.numbers.at(-1);
  return total === undefined || isExactly(fold.numbers, total);
}
