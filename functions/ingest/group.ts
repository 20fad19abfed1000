import { TransientError } from '../core/errors.ts';
import type { Clock } from '../ports.ts';

export interface GroupLimits {
  /** Bytes of one group; a larger item goes alone. */
  readonly groupBytes: number;
  /** Bytes of waiting items; what would pass it is refused at once. */
  readonly pendingBytes: number;
  /** Milliseconds after which an item whose group has not begun is refused. */
  readonly budgetMs: number;
  /** Milliseconds after which a group that is still running holds up the next one no longer; never when absent. */
  readonly overtakeMs?: number;
}

interface Waiting<Item, Fate> {
  readonly item: Item;
  readonly bytes: number;
  readonly since: number;
  readonly settle: { readonly resolve: (fate: Fate) => void; readonly reject: (error: Error) => void };
}

/**
 * Group commit: an item goes at once when nothing is under way, else it waits for the running group and joins the next.
 * One group runs at a time, so that an instance never works on a key twice at once; only one that hangs is overtaken,
 * where that is allowed.
 */
export class GroupCommit<Item, Fate> {
  readonly #commit: (items: readonly Item[]) => Promise<readonly Fate[]>;
  readonly #limits: GroupLimits;
  readonly #clock: Clock;
  #waiting: Waiting<Item, Fate>[] = [];
  #waitingBytes = 0;
  #running = false;
  #watching = false;

  /** `commit` answers with the fate of each item, in order; where it rejects, every item of the group does. */
  constructor(commit: (items: readonly Item[]) => Promise<readonly Fate[]>, limits: GroupLimits, clock: Clock) {
    this.#commit = commit;
    this.#limits = limits;
    this.#clock = clock;
  }

  /**
   * Resolves to the fate of this very item.
   *
   * @throws TransientError overloaded, when its group could not begin
   */
  submit(item: Item, bytes: number): Promise<Fate> {
    if (this.#waitingBytes + bytes > this.#limits.pendingBytes && this.#waiting.length > 0) {
      return Promise.reject(overloaded('too many bytes are waiting'));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Fate>();
    this.#waiting.push({ item, bytes, since: this.#clock.now(), settle: { resolve, reject } });
    this.#waitingBytes += bytes;
    if (this.#running) this.#watch();
    // Settles every item itself and cannot reject.
    else this.#run().catch(reject);
    return promise;
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let group = this.#take(); group.length > 0; group = this.#take()) {
      const { overtakeMs } = this.#limits;
      const running = this.#settle(group);
      await (overtakeMs === undefined ? running : this.#inTime(running, overtakeMs));
    }
    this.#running = false;
  }

  async #settle(group: readonly Waiting<Item, Fate>[]): Promise<void> {
    try {
      const fates = await this.#commit(group.map(({ item }) => item));
      group.forEach(({ settle }, index) => settle.resolve(fates[index]!));
    } catch (error) {
      for (const { settle } of group) settle.reject(error as Error);
    }
  }

  /** Waits for the running group, as long as the next one should. */
  async #inTime(running: Promise<void>, overtakeMs: number): Promise<void> {
    const timer = new AbortController();
    const enough = this.#clock.sleep(overtakeMs, timer.signal).catch(() => undefined);
    await Promise.race([running, enough]);
    timer.abort();
  }

  /** The next group, cut at the byte limit. */
  #take(): Waiting<Item, Fate>[] {
    this.#expire();
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      if (count > 0 && bytes + waiting.bytes > this.#limits.groupBytes) break;
      bytes += waiting.bytes;
      count++;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  #expire(): void {
    const oldest = this.#clock.now() - this.#limits.budgetMs * 1000;
    while (this.#waiting.length > 0 && this.#waiting[0]!.since <= oldest) {
      const { bytes, settle } = this.#waiting.shift()!;
      this.#waitingBytes -= bytes;
      settle.reject(overloaded('the group before took too long'));
    }
  }

  /** Answers those whose time is over even while a group hangs. One timer for the oldest is enough. */
  #watch(): void {
    const oldest = this.#waiting[0];
    if (this.#watching || oldest === undefined) return;
    this.#watching = true;
    const wait = this.#limits.budgetMs - (this.#clock.now() - oldest.since) / 1000;
    this.#clock.sleep(Math.max(1, Math.ceil(wait))).then(
      () => {
        this.#watching = false;
        this.#expire();
        this.#watch();
      },
      () => {
        this.#watching = false;
      },
    );
  }
}

function overloaded(why: string): TransientError {
  return new TransientError('overloaded', `this instance is busy: ${why}`);
}
