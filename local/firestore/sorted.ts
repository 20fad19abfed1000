/** A sorted list in chunks: insertion and removal move at most one chunk, search is binary. */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  #chunks: T[][] = [];
  static readonly #MAX = 512;

  /** Takes the items in any order. No two items may compare as equal. */
  constructor(compare: (a: T, b: T) => number, items: readonly T[] = []) {
    this.#compare = compare;
    const sorted = [...items].sort(compare);
    const step = SortedList.#MAX / 2;
    for (let i = 0; i < sorted.length; i += step) this.#chunks.push(sorted.slice(i, i + step));
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  add(item: T): void {
    const [chunk, at] = this.#find((other) => this.#compare(other, item) < 0);
    const target = this.#chunks[chunk] ?? this.#chunks.at(-1);
    if (!target) {
      this.#chunks.push([item]);
      return;
    }
    const full = this.#chunks[chunk] ? chunk : this.#chunks.length - 1;
    target.splice(this.#chunks[chunk] ? at : target.length, 0, item);
    if (target.length > SortedList.#MAX) this.#chunks.splice(full + 1, 0, target.splice(SortedList.#MAX / 2));
  }

  /** The stored item that compares as equal. */
  find(item: T): T | undefined {
    const [chunk, at] = this.#find((other) => this.#compare(other, item) < 0);
    const found = this.#chunks[chunk]?.[at];
    return found !== undefined && this.#compare(found, item) === 0 ? found : undefined;
  }

  remove(item: T): void {
    const [chunk, at] = this.#find((other) => this.#compare(other, item) < 0);
    const found = this.#chunks[chunk]?.[at];
    if (found === undefined || this.#compare(found, item) !== 0) return;
    this.#chunks[chunk]!.splice(at, 1);
    if (this.#chunks[chunk]!.length === 0) this.#chunks.splice(chunk, 1);
  }

  /** The items in order, from the first for which `before` is false; `before` must be true of a prefix only. */
  *from(before: (item: T) => boolean): Generator<T> {
    const [chunk, at] = this.#find(before);
    for (let i = chunk; i < this.#chunks.length; i++) {
      const items = this.#chunks[i]!;
      for (let j = i === chunk ? at : 0; j < items.length; j++) yield items[j]!;
    }
  }

  #find(before: (item: T) => boolean): [chunk: number, at: number] {
    const chunk = partition(this.#chunks, (items) => before(items.at(-1)!));
    const items = this.#chunks[chunk];
    return [chunk, items ? partition(items, before) : 0];
  }
}

function partition<T>(items: readonly T[], before: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before(items[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
