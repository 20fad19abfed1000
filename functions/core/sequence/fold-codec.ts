import type { Aggregate, Placed } from './aggregate.ts';
import { Reader, Writer } from './bytes.ts';
import type { Fold } from './fold.ts';
import { fromBitmap, toBitmap, type NumberSet } from './numbers.ts';
import { compareText } from './order.ts';
import { stepBytes, type Step } from './steps.ts';

export function writeFold(w: Writer, fold: Fold): void {
  w.count(fold.count);
  w.integer(fold.firstTime);
  w.integer(fold.lastTime);
  w.optional(fold.coda, (coda) => writeStep(w, coda));
  w.optional(fold.total, (total) => w.count(total));
  w.flag(fold.beyond);
  writeNumbers(w, fold.numbers);
  w.list(fold.steps.kept, (step) => writeStep(w, step));
  w.optional(fold.steps.cut, (cut) => {
    w.integer(cut.time);
    w.text(cut.eventId);
  });
  // In one order, so that equal folds are equal bytes.
  const fields = [...fold.fields].sort(([a], [b]) => compareText(a, b));
  w.list(fields, ([pointer, value]) => {
    w.text(pointer);
    writeAggregate(w, value);
  });
}

export function readFold(r: Reader): Fold {
  const count = r.count();
  const firstTime = r.integer();
  const lastTime = r.integer();
  const coda = r.optional(() => readStep(r));
  const total = r.optional(() => r.count());
  const beyond = r.flag();
  const numbers = readNumbers(r);
  const kept = r.list(() => readStep(r));
  const cut = r.optional(() => ({ time: r.integer(), eventId: r.text() }));
  const fields = new Map(r.list(() => [r.text(), readAggregate(r)] as const));
  const bytes = kept.reduce((sum, step) => sum + stepBytes(step), 0);
  return { count, firstTime, lastTime, coda, total, numbers, beyond, steps: { kept, bytes, cut }, fields };
}

function writeStep(w: Writer, step: Step): void {
  w.integer(step.time);
  w.text(step.eventId);
  w.text(step.status);
}

function readStep(r: Reader): Step {
  return { time: r.integer(), eventId: r.text(), status: r.text() };
}

/** Gaps and lengths of the intervals, or a bitmap where that is smaller. */
function writeNumbers(w: Writer, set: NumberSet): void {
  const intervals = new Writer();
  for (let i = 0; i < set.length; i += 2) {
    intervals.count(set[i]! - (set[i - 1] ?? 0));
    intervals.count(set[i + 1]! - set[i]!);
  }
  const asBitmap = intervals.length > Math.ceil((set.at(-1) ?? 0) / 8);
  w.flag(asBitmap);
  w.bytes(asBitmap ? toBitmap(set) : intervals.done());
}

function readNumbers(r: Reader): NumberSet {
  const asBitmap = r.flag();
  const bytes = r.bytes();
  if (asBitmap) return fromBitmap(bytes);
  const intervals = new Reader(bytes);
  const set: number[] = [];
  while (!intervals.ended) {
    const start = (set.at(-1) ?? 0) + intervals.count();
    set.push(start, start + intervals.count());
  }
  return set;
}

function writeAggregate(w: Writer, a: Aggregate): void {
  w.count(a.count);
  w.big(a.sum);
  w.big(a.min);
  w.big(a.max);
  w.optional(a.first, (first) => writePlaced(w, first));
  w.optional(a.last, (last) => writePlaced(w, last));
  w.count(a.skipped);
}

function readAggregate(r: Reader): Aggregate {
  return {
    count: r.count(),
    sum: r.big(),
    min: r.big(),
    max: r.big(),
    first: r.optional(() => readPlaced(r)),
    last: r.optional(() => readPlaced(r)),
    skipped: r.count(),
  };
}

function writePlaced(w: Writer, placed: Placed): void {
  w.integer(placed.time);
  w.text(placed.eventId);
  w.text(placed.text);
}

function readPlaced(r: Reader): Placed {
  return { time: r.integer(), eventId: r.text(), text: r.text() };
}
