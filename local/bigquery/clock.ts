import type { Micros } from './types.ts';

/**
 * The one source of commit times and of CURRENT_TIMESTAMP. `tick` never gives the same time twice and never goes back,
 * so a commit is either before or after the `now` of any query.
 */
export class CommitClock {
  readonly #wall: () => Micros;
  #last = 0;
  constructor(wall: () => Micros = () => Date.now() * 1000) {
    this.#wall = wall;
  }

  /** Times up to `time` have been given out, by an earlier process. */
  advance(time: Micros): void {
    this.#last = Math.max(this.#last, time);
  }

  tick(): Micros {
    this.#last = Math.max(this.#wall(), this.#last + 1);
    return this.#last;
  }

  /** Time for a record, such as when a job ended; not before any tick. */
  now(): Micros {
    return Math.max(this.#wall(), this.#last);
  }
}
