export interface PushLimits {
  /** Outstanding requests of a subscription at first. */
  readonly initialWindow: number;
  /** Outstanding requests of a subscription at most. */
  readonly maxWindow: number;
  /** Pause of a whole subscription after failures without a success between, in milliseconds: from and to. */
  readonly minPause: number;
  readonly maxPause: number;
}

export const PUSH_LIMITS: PushLimits = { initialWindow: 5, maxWindow: 200, minPause: 100, maxPause: 2000 };

/** So many failures in a row before the whole subscription pauses. */
const MANY = 5;

/**
 * How many requests may be outstanding: one more with every success (so it doubles in a round trip), half with a
 * failure; and how long to hold back everything when nothing succeeds.
 */
export class PushWindow {
  readonly #limits: PushLimits;
  #size: number;
  #failures = 0;
  #pause = 0;
  #cut = -Infinity;

  constructor(limits: PushLimits) {
    this.#limits = limits;
    this.#size = limits.initialWindow;
  }

  get size(): number {
    return this.#size;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#pause = 0;
    this.#size = Math.min(this.#size + 1, this.#limits.maxWindow);
  }

  /** Takes note of a failure of a request begun at `started`; returns the pause that it causes, 0 for none. */
  failed(started: number, now: number): number {
    this.#failures++;
    // What was under way at the last cut says nothing new.
    if (started < this.#cut) return 0;
    this.#cut = now;
    this.#size = Math.max(1, Math.floor(this.#size / 2));
    if (this.#failures < MANY) return 0;
    this.#pause = Math.min(Math.max(this.#pause * 2, this.#limits.minPause), this.#limits.maxPause);
    return this.#pause;
  }
}
