import { TransientError } from '../core/errors.ts';
import type { Micros } from '../core/event.ts';
import type { End } from '../end.ts';
import type { Clock } from '../ports.ts';

export interface GroupLimits {
  /** Bytes of one group; a larger item goes alone. */
  readonly groupBytes: number;
  /** Bytes of waiting items; what would pass it is refused at once. */
  readonly pendingBytes: number;
  /** Bytes that a waiting item takes besides its own. */
  readonly itemBytes: number;
  /** Microseconds that a group may take; it also ends with the first end among its items. */
  readonly budget: Micros;
  /** Calls of ports, one after the other, for which a group has time at least: an item with less left is refused. */
  readonly calls: number;
  /** Milliseconds after which a group that is still running holds up the next one no longer; never when absent. */
  readonly overtakeMs?: number;
}

/** `commit` answers with the fate of each item, in order; where it rejects, every item of the group does. */
type Commit<Item, Fate> = (items: readonly Item[], end: End) => Promise<readonly Fate[]>;

interface Waiting<Item, Fate> {
  readonly item: Item;
  readonly bytes: number;
  readonly end: End;
  /** Its group has to begin before this moment. */
  readonly latest: Micros;
  readonly settle: { readonly resolve: (fate: Fate) => void; readonly reject: (error: Error) => void };
}

/**
 * Group commit: an item goes at once when nothing is under way, else it waits for the running group and joins the next.
 * One group runs at a time, so that an instance never works on a key twice at once; only one that hangs is overtaken,
 * where that is allowed.
 */
export class GroupCommit<Item, Fate> {
  readonly #commit: Commit<Item, Fate>;
  readonly #limits: GroupLimits;
  readonly #clock: Clock;
  #waiting: Waiting<Item, Fate>[] = [];
  #waitingBytes = 0;
  #running = false;
  /** When the timer wakes that refuses who waited too long. */
  #alarm: Micros = Infinity;

  constructor(commit: Commit<Item, Fate>, limits: GroupLimits, clock: Clock) {
    this.#commit = commit;
    this.#limits = limits;
    this.#clock = clock;
  }

  /**
   * Resolves to the fate of this very item, by its end.
   *
   * @throws TransientError overloaded, when its group could not begin
   */
  submit(item: Item, bytes: number, end: End): Promise<Fate> {
    const latest = end.latest(this.#limits.calls);
    if (latest <= this.#clock.now()) return Promise.reject(overloaded('too little time is left'));
    const { pendingBytes, itemBytes } = this.#limits;
    const held = this.#waitingBytes + this.#waiting.length * itemBytes;
    if (held + bytes + itemBytes > pendingBytes && this.#waiting.length > 0) {
      return Promise.reject(overloaded('too many bytes are waiting'));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Fate>();
    this.#waiting.push({ item, bytes, end, latest, settle: { resolve, reject } });
    this.#waitingBytes += bytes;
    if (this.#running) this.#wakeBy(latest);
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
    const first = group.reduce((a, b) => (b.end.at < a.end.at ? b : a));
    try {
      const items = group.map(({ item }) => item);
      const fates = await this.#commit(items, first.end.within(this.#limits.budget));
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

  /** Refuses those whose group would begin too late. */
  #expire(): void {
    const now = this.#clock.now();
    if (!this.#waiting.some(({ latest }) => latest <= now)) return;
    const { late = [], early = [] } = Object.groupBy(this.#waiting, ({ latest }) => (latest <= now ? 'late' : 'early'));
    this.#waiting = early;
    for (const { bytes, settle } of late) {
      this.#waitingBytes -= bytes;
      settle.reject(overloaded('the group before took too long'));
    }
  }

  /** Refuses them in time even while a group hangs. */
  #wakeBy(latest: Micros): void {
    if (latest >= this.#alarm) return;
    this.#alarm = latest;
    const ms = Math.max(1, Math.ceil((latest - this.#clock.now()) / 1000));
    this.#clock.sleep(ms).then(
      () => {
        if (this.#alarm === latest) this.#alarm = Infinity;
        this.#expire();
        if (this.#waiting.length > 0)
          this.#wakeBy(this.#waiting.reduce((least, one) => Math.min(least, one.latest), Infinity));
      },
      () => {
        this.#alarm = Infinity;
      },
    );
  }
}

function overloaded(why: string): TransientError {
  return new TransientError('overloaded', `this instance is busy: ${why}`);
}
