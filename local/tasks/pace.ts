import type { RateLimits } from './wire.ts';

/** A token bucket: how fast a queue may dispatch. Epoch milliseconds. */
export class Pace {
  #perMs: number;
  #burst: number;
  #tokens: number;
  #at: number;
  constructor(limits: RateLimits, now: number) {
    this.#perMs = limits.maxDispatchesPerSecond / 1000;
    this.#burst = limits.maxBurstSize;
    this.#tokens = this.#burst;
    this.#at = now;
  }

  /** Other limits from now on. */
  change(limits: RateLimits, now: number): void {
    this.#refill(now);
    this.#perMs = limits.maxDispatchesPerSecond / 1000;
    this.#burst = limits.maxBurstSize;
    this.#tokens = Math.min(this.#tokens, this.#burst);
  }

  /** Takes a token: 0 when there was one, else the milliseconds until there is. */
  take(now: number): number {
    this.#refill(now);
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - this.#tokens) / this.#perMs));
  }

  #refill(now: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + Math.max(0, now - this.#at) * this.#perMs);
    this.#at = now;
  }
}
