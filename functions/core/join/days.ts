import type { Micros } from '../event.ts';

const DAY: Micros = 86_400e6;

/** Days since 1970-01-01 that a window touches, and whether it has rows without a time. */
export interface Days {
  readonly days: readonly number[];
  readonly untimed: boolean;
}

/** Sorted, distinct days as ranges of whole days, half-open, in epoch microseconds. */
export function ranges(days: readonly number[]): readonly { readonly from: Micros; readonly to: Micros }[] {
  const result: { from: Micros; to: Micros }[] = [];
  for (const day of [...new Set(days)].sort((a, b) => a - b)) {
    const last = result.at(-1);
    if (last !== undefined && last.to === day * DAY) last.to += DAY;
    else result.push({ from: day * DAY, to: (day + 1) * DAY });
  }
  return result;
}

function literal(micros: Micros): string {
  return `TIMESTAMP '${new Date(micros / 1000).toISOString().slice(0, 19).replace('T', ' ')}+00'`;
}

/** A predicate with constants only, so that BigQuery prunes the partitions of `column`. */
export function dayPredicate(column: string, { days, untimed }: Days): string {
  const terms = ranges(days).map(({ from, to }) => `(${column} >= ${literal(from)} AND ${column} < ${literal(to)})`);
  if (untimed) terms.push(`${column} IS NULL`);
  return terms.length === 0 ? 'FALSE' : `(${terms.join(' OR ')})`;
}

/** Cuts the days so that no part has more than `size` of them; rows without a time go with the first part. */
export function parts({ days, untimed }: Days, size: number): readonly Days[] {
  const sorted = [...days].sort((a, b) => a - b);
  const result: Days[] = [];
  for (let i = 0; i < sorted.length; i += size)
    result.push({ days: sorted.slice(i, i + size), untimed: untimed && i === 0 });
  if (result.length === 0 && untimed) result.push({ days: [], untimed });
  return result;
}
