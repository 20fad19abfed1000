/** Counters of what Google Cloud would bill, by name, e.g. `firestore.reads`, `pubsub.publish_bytes`. */
export class Meter {
  readonly #counts = new Map<string, number>();

  add(name: string, amount = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + amount);
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** All counters, sorted by name. */
  snapshot(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
