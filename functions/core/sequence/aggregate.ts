import { formatDecimal, parseDecimal, type Decimal } from './decimal.ts';
import { comparePosition, type Position } from './order.ts';

/** A value with the place of its event. Numbers are normalised, everything else is JSON source text. */
export interface Placed extends Position {
  readonly text: string;
}

/** What is kept of one payload member; independent of the order of the events. */
export interface Aggregate {
  /** How many values were numbers; they make up the sum and the extremes. */
  readonly count: number;
  readonly sum: Decimal;
  readonly min: Decimal;
  readonly max: Decimal;
  /** Of all values, numbers or not, by the order of their events. */
  readonly first: Placed | null;
  readonly last: Placed | null;
  /** Values that were too long, or numbers with a digit outside the exact range. */
  readonly skipped: number;
}

const NOTHING: Aggregate = { count: 0, sum: 0n, min: 0n, max: 0n, first: null, last: null, skipped: 0 };

/** Longest value that is kept, in UTF-8 bytes. */
const VALUE_BYTES = 1024;

/** Adds the value (JSON source text) of a member; JSON null counts as absent. */
export function aggregate(known: Aggregate | undefined, source: string, at: Position): Aggregate | undefined {
  if (source === 'null') return known;
  const before = known ?? NOTHING;
  const numeric = /^[-\d]/.test(source);
  const decimal = numeric && source.length <= VALUE_BYTES ? parseDecimal(source) : null;
  if ((numeric && decimal === null) || Buffer.byteLength(source) > VALUE_BYTES) {
    return { ...before, skipped: before.skipped + 1 };
  }
  const placed: Placed = {
    time: at.time,
    eventId: at.eventId,
    text: decimal === null ? source : formatDecimal(decimal),
  };
  const { first, last } = before;
  const after: Aggregate = {
    ...before,
    first: first === null || comparePosition(placed, first) < 0 ? placed : first,
    last: last === null || comparePosition(placed, last) > 0 ? placed : last,
  };
  if (decimal === null) return after;
  return {
    ...after,
    count: before.count + 1,
    sum: before.sum + decimal,
    min: before.count === 0 || decimal < before.min ? decimal : before.min,
    max: before.count === 0 || decimal > before.max ? decimal : before.max,
  };
}

/** JSON text of an aggregate: `{"count":2,"sum":30.5,"min":10,"max":20.5,"first":10,"last":20.5,"skipped":0}`. */
export function describeAggregate(a: Aggregate): string {
  const members = [`"count":${a.count}`];
  if (a.count > 0) {
    members.push(`"sum":${formatDecimal(a.sum)}`, `"min":${formatDecimal(a.min)}`, `"max":${formatDecimal(a.max)}`);
  }
  if (a.first !== null) members.push(`"first":${a.first.text}`);
  if (a.last !== null) members.push(`"last":${a.last.text}`);
  members.push(`"skipped":${a.skipped}`);
  return `{${members.join(',')}}`;
}
