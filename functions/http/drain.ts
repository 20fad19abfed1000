import type { Clock } from '../ports.ts';

/** Knows the requests under way, so that an instance can finish them before it ends. */
export class Drain {
  readonly #underWay = new Set<Promise<unknown>>();
  #draining = false;

  /** Whether new requests should be turned away. */
  get draining(): boolean {
    return this.#draining;
  }

  /** Passes the request on. */
  track<T>(request: Promise<T>): Promise<T> {
    const done: Promise<T> = request.finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
    return done;
  }

  /** Waits for the requests under way, at most `ms` milliseconds; resolves to how many are left. */
  async finish(ms: number, clock: Clock): Promise<number> {
    this.#draining = true;
    await Promise.race([Promise.allSettled(this.#underWay), clock.sleep(ms)]);
    return this.#underWay.size;
  }
}
