/** The clock and the timers of a local server; tests put a clock of their own in its place. */
export interface Time {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls `fn` once after `ms` milliseconds; returns a function that cancels it. */
  setTimeout(fn: () => void, ms: number): () => void;
}

/** The longest delay that a timer of Node.js can hold. */
export const LONGEST_DELAY = 2 ** 31 - 1;

export const realTime: Time = {
  now: () => Date.now(),
  setTimeout(fn, ms) {
    const timer = setTimeout(fn, Math.min(Math.max(ms, 0), LONGEST_DELAY));
    return () => clearTimeout(timer);
  },
};
