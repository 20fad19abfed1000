import type { Micros } from '../event.ts';

/** What is known when a window is planned; times are epoch microseconds of BigQuery's clock. */
export interface Situation {
  /** Everything before it was processed; null before the first run. */
  readonly cursor: Micros | null;
  /** BigQuery's own clock. */
  readonly clock: Micros;
  /** When the source table was created. */
  readonly created: Micros;
  readonly start: 'now' | 'earliest';
  readonly lookback: Micros;
  readonly step: Micros;
  readonly lag: Micros;
  readonly timeTravel: Micros;
  readonly margin: Micros;
}

/** What to do next. Windows are half-open in commit time. */
export type Plan =
  /** No cursor yet: it is set here, nothing is read. */
  | { readonly kind: 'first'; readonly position: Micros }
  /** Nothing can be new yet. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'normal'; readonly start: Micros; readonly end: Micros }
  /** As `normal`, but the step was capped: more windows follow. */
  | { readonly kind: 'catching_up'; readonly start: Micros; readonly end: Micros }
  /** What has to be read has left time travel: the whole table is scanned from this arrival time on. */
  | { readonly kind: 'too_old'; readonly from: Micros; readonly end: Micros };

/** Arrival times are set before the commit, so a scan by them begins this much earlier; the ledger takes the overlap. */
const ARRIVAL_MARGIN: Micros = 3600e6;

/** The first window is planned a moment after its position was, when the edge of time travel has moved on. */
const FIRST_MARGIN: Micros = 600e6;

/** Plans the next window: never a hole, never a step over the cap, never past the clock less the lag. */
export function planWindow(s: Situation): Plan {
  const edge = s.clock - s.timeTravel + s.margin;
  const newest = s.clock - s.lag;
  if (s.cursor === null) {
    const earliest = Math.max(edge + s.lookback + FIRST_MARGIN, s.created);
    return { kind: 'first', position: s.start === 'earliest' ? Math.min(newest, earliest) : newest };
  }
  // Before the table was created nothing can have been committed, so a cursor from before loses nothing.
  const done = Math.max(s.cursor, s.created);
  if (newest <= done) return { kind: 'idle' };
  // The lookback counts: in it are rows that wait for their reference row, and those that became visible late.
  const start = Math.max(s.cursor - s.lookback, s.created);
  if (start < edge) {
    return { kind: 'too_old', from: s.cursor - s.lookback - ARRIVAL_MARGIN, end: newest };
  }
  const capped = done + s.step < newest;
  return { kind: capped ? 'catching_up' : 'normal', start, end: capped ? done + s.step : newest };
}
