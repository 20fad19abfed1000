/** Which values of a partitioning column a predicate leaves, in epoch microseconds (half-open, sorted) and NULL. */
export interface Ranges {
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
  readonly nulls: boolean;
}

export const FIRST = -62_135_596_800_000_000;
export const END = 253_402_300_800_000_000;

export const EVERYTHING: Ranges = { ranges: [{ from: FIRST, to: END }], nulls: true };
export const ONLY_NULLS: Ranges = { ranges: [], nulls: true };
export const NO_NULLS: Ranges = { ranges: [{ from: FIRST, to: END }], nulls: false };

export function between(from: number, to: number): Ranges {
  return { ranges: from < to ? [{ from, to }] : [], nulls: false };
}

export function intersect(a: Ranges, b: Ranges): Ranges {
  const ranges = a.ranges.flatMap((x) =>
    b.ranges
      .map((y) => ({ from: Math.max(x.from, y.from), to: Math.min(x.to, y.to) }))
      .filter((range) => range.from < range.to),
  );
  return { ranges, nulls: a.nulls && b.nulls };
}

export function union(a: Ranges, b: Ranges): Ranges {
  const merged: { from: number; to: number }[] = [];
  for (const range of [...a.ranges, ...b.ranges].sort((x, y) => x.from - y.from)) {
    const last = merged.at(-1);
    if (last && range.from <= last.to) last.to = Math.max(last.to, range.to);
    else merged.push({ ...range });
  }
  return { ranges: merged, nulls: a.nulls || b.nulls };
}

/** `column op value`, the value lasting `width` microseconds (a day for DATE columns). */
export function compared(op: string, value: number, width: number): Ranges | undefined {
  switch (op) {
    case '=':
      return between(value, value + width);
    case '<':
      return between(FIRST, value);
    case '<=':
      return between(FIRST, value + width);
    case '>':
      return between(value + width, END);
    case '>=':
      return between(value, END);
    default:
      return undefined;
  }
}
