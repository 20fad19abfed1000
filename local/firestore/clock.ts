/** Epoch microseconds. */
export type Now = () => number;

/** Times of commits and reads, in epoch microseconds. */
export class CommitClock {
  readonly #now: Now;
  #last = 0;
  constructor(now: Now) {
    this.#now = now;
  }

  /** What the clock says, without regard to commits. */
  wall(): number {
    return this.#now();
  }

  /** A commit time: later than every one before, also across restarts. */
  commit(): number {
    this.#last = Math.max(this.#now(), this.#last + 1);
    return this.#last;
  }

  /** The time of a read that sees every commit so far. */
  read(): number {
    return Math.max(this.#now(), this.#last);
  }

  /** Takes note of a commit read from the journal. */
  saw(commit: number): void {
    this.#last = Math.max(this.#last, commit);
  }
}
