import { LONGEST_DELAY, type Time } from './time.ts';

/** Items that wait for a moment each: a binary heap behind a single timer. */
export class DueQueue<T> {
  readonly #time: Time;
  readonly #fire: (item: T) => void;
  readonly #heap: { at: number; item: T }[] = [];
  #cancel: (() => void) | undefined;
  #armedFor = Infinity;

  /** `fire` gets each item once, not before its moment. */
  constructor(time: Time, fire: (item: T) => void) {
    this.#time = time;
    this.#fire = fire;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Adds an item that comes due at `at` (epoch milliseconds). */
  add(at: number, item: T): void {
    const heap = this.#heap;
    let i = heap.push({ at, item }) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (heap[parent]!.at <= heap[i]!.at) break;
      this.#swap(i, parent);
      i = parent;
    }
    this.#arm();
  }

  /** Forgets every item. */
  clear(): void {
    this.#heap.length = 0;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#armedFor = Infinity;
  }

  #arm(): void {
    const next = this.#heap[0]?.at ?? Infinity;
    if (next >= this.#armedFor) return;
    this.#cancel?.();
    this.#armedFor = next;
    const delay = Math.min(Math.max(next - this.#time.now(), 0), LONGEST_DELAY);
    this.#cancel = this.#time.setTimeout(() => this.#run(), delay);
  }

  #run(): void {
    this.#cancel = undefined;
    this.#armedFor = Infinity;
    const now = this.#time.now();
    while (this.#heap.length > 0 && this.#heap[0]!.at <= now) this.#fire(this.#pop());
    this.#arm();
  }

  #pop(): T {
    const heap = this.#heap;
    const { item } = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return item;
    heap[0] = last;
    for (let i = 0; ;) {
      const left = 2 * i + 1;
      let least = i;
      for (const child of [left, left + 1]) if (child < heap.length && heap[child]!.at < heap[least]!.at) least = child;
      if (least === i) return item;
      this.#swap(i, least);
      i = least;
    }
  }

  #swap(i: number, j: number): void {
    const heap = this.#heap;
    [heap[i], heap[j]] = [heap[j]!, heap[i]!];
  }
}
