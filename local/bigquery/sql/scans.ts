import { END, FIRST, type Ranges } from './pruning.ts';
import type { State } from './scope.ts';
import type { Scan } from './types.ts';

/** The scans of a statement for the bytes meter. */
export function compiledScans(state: State): Scan[] {
  return state.scans.map(({ ref, columns, ranges, appends }) => ({
    ref,
    columns: [...columns],
    ...(ranges && !isAll(ranges) && { partitions: ranges.ranges, nullPartition: ranges.nulls }),
    ...(appends && { appends }),
  }));
}

function isAll({ ranges, nulls }: Ranges): boolean {
  return nulls && ranges.length === 1 && ranges[0]?.from === FIRST && ranges[0].to === END;
}
