/**
 * A set of positive integers as sorted, disjoint, non-adjacent intervals: `[start, end, start, end, ...]`, both ends
 * included. One set has one form, however it came about.
 */
export type NumberSet = readonly number[];

/** Larger numbers are not kept: the set stays within 125,000 bytes as a bitmap. */
export const LARGEST_NUMBER = 1_000_000;

/** Adds many at once, because a set may be long and each addition copies it. */
export function addAll(set: NumberSet, numbers: readonly number[]): NumberSet {
  if (numbers.length === 0) return set;
  const sorted = numbers.toSorted((a, b) => a - b);
  const merged: number[] = [];
  const append = (start: number, end: number): void => {
    const last = merged.length - 1;
    if (last >= 0 && start <= merged[last]! + 1) merged[last] = Math.max(merged[last]!, end);
    else merged.push(start, end);
  };
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    for (; next < sorted.length && sorted[next]! < set[i]!; next++) append(sorted[next]!, sorted[next]!);
    append(set[i]!, set[i + 1]!);
  }
  for (; next < sorted.length; next++) append(sorted[next]!, sorted[next]!);
  return merged;
}

/** Whether the set is exactly 1..n. */
export function isExactly(set: NumberSet, n: number): boolean {
  return set.length === 2 && set[0] === 1 && set[1] === n;
}

/** Bit n - 1 of the bitmap is set when n is in the set. */
export function toBitmap(set: NumberSet): Uint8Array {
  const bitmap = new Uint8Array(Math.ceil((set.at(-1) ?? 0) / 8));
  for (let i = 0; i < set.length; i += 2) {
    for (let bit = set[i]! - 1; bit < set[i + 1]!; bit++) bitmap[bit >>> 3]! |= 1 << (bit & 7);
  }
  return bitmap;
}

export function fromBitmap(bitmap: Uint8Array): NumberSet {
  const set: number[] = [];
  for (let bit = 0; bit < bitmap.length * 8; bit++) {
    if ((bitmap[bit >>> 3]! & (1 << (bit & 7))) === 0) continue;
    if (set.at(-1) === bit) set[set.length - 1] = bit + 1;
    else set.push(bit + 1, bit + 1);
  }
  return set;
}
