/**
 * A set of positive integers as sorted, disjoint, non-adjacent intervals: `[start, end, start, end, ...]`, both ends
 * included. One set has one form, however it came about.
 */
export type NumberSet = readonly number[];

/** Larger numbers are not kept: the set stays within 125,000 bytes as a bitmap. */
export const LARGEST_NUMBER = 1_000_000;

export function has(set: NumberSet, n: number): boolean {
  const i = firstEndingAt(set, n);
  return i < set.length && set[i]! <= n;
}

export function add(set: NumberSet, n: number): NumberSet {
  // The first interval that ends at n - 1 or later is the only one that can hold n or touch it from the left.
  const i = firstEndingAt(set, n - 1);
  if (i === set.length || set[i]! > n + 1) return [...set.slice(0, i), n, n, ...set.slice(i)];
  const start = Math.min(set[i]!, n);
  const end = Math.max(set[i + 1]!, n);
  if (i + 2 < set.length && set[i + 2] === end + 1)
    return [...set.slice(0, i), start, set[i + 3]!, ...set.slice(i + 4)];
  return [...set.slice(0, i), start, end, ...set.slice(i + 2)];
}

/** Whether the set is exactly 1..n. */
export function isExactly(set: NumberSet, n: number): boolean {
  return set.length === 2 && set[0] === 1 && set[1] === n;
}

/** Index (even) of the first interval whose end is at least n. */
function firstEndingAt(set: NumberSet, n: number): number {
  let low = 0;
  let high = set.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (set[middle * 2 + 1]! < n) low = middle + 1;
    else high = middle;
  }
  return low * 2;
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
