import { DueQueue } from '../shared/due.ts';
import { Queue } from '../shared/queue.ts';
import type { Time } from '../shared/time.ts';
import { toMs } from '../shared/wire.ts';
import { compileFilter, type Filter } from './filter.ts';
import type { Message } from './message.ts';
import type { Settings } from './wire.ts';

/** A message on its way through one subscription. */
export interface Entry {
  readonly message: Message;
  /** Deliveries that failed so far. */
  failures: number;
  /** Out of the subscription: acknowledged, expired or dead-lettered. */
  gone: boolean;
}

/** One delivery that is not settled yet. */
export interface Lease {
  readonly ackId: string;
  readonly entry: Entry;
  /** Epoch milliseconds after which it counts as failed; Infinity when its taker keeps the time. */
  until: number;
  settled: boolean;
  /** Called once, when it is settled in whatever way. */
  onEnd?: () => void;
}

/** What a subscription tells its surroundings. */
export interface Surroundings {
  readonly time: Time;
  /** The message needs no more delivery here. */
  removed(subscription: Subscription, message: Message): void;
  failed(subscription: Subscription, entry: Entry): void;
  /** Forwards to the dead-letter topic; false when that is not possible. */
  deadLetter(subscription: Subscription, entry: Entry, reason: string | undefined): boolean;
  nextAckId(): string;
}

/** Takes messages of a subscription: a pusher, a writer or pulling clients. */
export interface Consumer {
  /** There may be something to take. */
  pump(): void;
  close(): void;
}

/** Undelivered messages of one subscription: what is ready, out, waiting for its backoff or behind its ordering key. */
export class Subscription {
  consumer: Consumer | undefined;
  readonly #env: Surroundings;
  #settings: Settings;
  readonly matches: Filter;
  /** Everything not gone, in the order of publication. */
  readonly #entries = new Map<string, Entry>();
  readonly #ready = new Queue<Entry>();
  readonly #waiting: DueQueue<Entry>;
  readonly #leases = new Map<string, Lease>();
  /** Ids, not leases: what was settled long before its deadline should not stay in memory until then. */
  readonly #deadlines: DueQueue<string>;
  /** Per ordering key the messages in order; only the first of them is ready, out or waiting. */
  readonly #lanes = new Map<string, Queue<Entry>>();
  #cancelRetention: (() => void) | undefined;
  #closed = false;

  constructor(settings: Settings, env: Surroundings) {
    this.#settings = settings;
    this.#env = env;
    this.matches = compileFilter(settings.filter);
    this.#waiting = new DueQueue(env.time, (entry) => {
      this.#makeReady(entry);
      this.consumer?.pump();
    });
    this.#deadlines = new DueQueue(env.time, (ackId) => this.#deadline(ackId));
  }

  get settings(): Settings {
    return this.#settings;
  }

  set settings(settings: Settings) {
    this.#settings = settings;
    this.#cancelRetention?.();
    this.#cancelRetention = undefined;
    this.#watchRetention();
  }

  get name(): string {
    return this.#settings.name;
  }

  /** Messages not acknowledged yet. */
  get backlog(): number {
    return this.#entries.size;
  }

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  entry(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  /** Puts a message in; the caller pumps the consumer afterwards. */
  add(message: Message, failures = 0): void {
    const entry: Entry = { message, failures, gone: false };
    message.holders++;
    this.#entries.set(message.id, entry);
    this.#watchRetention();
    const lane = this.#laneOf(entry);
    if (!lane) {
      this.#ready.push(entry);
      return;
    }
    lane.push(entry);
    if (lane.length === 1) this.#ready.push(entry);
  }

  /** Leases up to `limit` ready messages of together about `maxBytes`, each until `until` (epoch ms or Infinity). */
  take(limit: number, maxBytes: number, until: number): Lease[] {
    const leases: Lease[] = [];
    let bytes = 0;
    while (leases.length < limit) {
      const entry = this.#ready.peek();
      if (!entry) break;
      if (!entry.gone && leases.length > 0 && bytes + entry.message.size > maxBytes) break;
      this.#ready.shift();
      if (entry.gone) continue;
      bytes += entry.message.size;
      const lease: Lease = { ackId: this.#env.nextAckId(), entry, until, settled: false };
      this.#leases.set(lease.ackId, lease);
      if (until < Infinity) this.#deadlines.add(until, lease.ackId);
      leases.push(lease);
    }
    return leases;
  }

  lease(ackId: string): Lease | undefined {
    return this.#leases.get(ackId);
  }

  /** Moves the deadline of a lease. */
  extend(lease: Lease, until: number): void {
    lease.until = until;
    this.#deadlines.add(until, lease.ackId);
  }

  ack(lease: Lease): void {
    if (!this.#settle(lease) || this.#closed) return;
    this.#remove(lease.entry);
    this.consumer?.pump();
  }

  /** A delivery failed: the message comes back after its backoff or goes to the dead-letter topic. */
  nack(lease: Lease, reason?: string): void {
    if (!this.#settle(lease) || this.#closed || lease.entry.gone) return;
    const { entry } = lease;
    entry.failures++;
    this.#env.failed(this, entry);
    const attempts = this.#settings.deadLetterPolicy?.maxDeliveryAttempts ?? Infinity;
    if (entry.failures >= attempts && this.#env.deadLetter(this, entry, reason)) {
      this.#remove(entry);
    } else {
      const backoff = this.#backoff(entry);
      if (backoff > 0) this.#waiting.add(this.#env.time.now() + backoff, entry);
      else this.#makeReady(entry);
    }
    this.consumer?.pump();
  }

  /** Ends deliveries and timers; what is out is settled no more. */
  close(): void {
    this.#closed = true;
    this.consumer?.close();
    this.consumer = undefined;
    this.#waiting.clear();
    this.#deadlines.clear();
    this.#cancelRetention?.();
  }

  /** Drops one message, as if it had been acknowledged. */
  forget(id: string): void {
    const entry = this.#entries.get(id);
    if (entry) this.#remove(entry);
  }

  /** Drops everything, as when the subscription is deleted. */
  clear(): void {
    for (const entry of [...this.#entries.values()]) this.#remove(entry);
    this.close();
  }

  #settle(lease: Lease): boolean {
    if (lease.settled) return false;
    lease.settled = true;
    this.#leases.delete(lease.ackId);
    lease.onEnd?.();
    return true;
  }

  #deadline(ackId: string): void {
    const lease = this.#leases.get(ackId);
    if (!lease) return;
    // An earlier reminder of a lease that was extended since: the later one is in the queue.
    if (lease.until > this.#env.time.now()) return;
    this.nack(lease, 'the acknowledgement deadline passed');
  }

  #backoff({ failures }: Entry): number {
    const policy = this.#settings.retryPolicy;
    if (!policy) return 0;
    return Math.min(toMs(policy.minimumBackoff)! * 2 ** Math.min(failures - 1, 40), toMs(policy.maximumBackoff)!);
  }

  #makeReady(entry: Entry): void {
    if (!entry.gone) this.#ready.push(entry);
  }

  #laneOf({ message }: Entry): Queue<Entry> | undefined {
    if (!this.#settings.enableMessageOrdering || message.orderingKey === '') return undefined;
    const lane = this.#lanes.get(message.orderingKey) ?? new Queue<Entry>();
    this.#lanes.set(message.orderingKey, lane);
    return lane;
  }

  #remove(entry: Entry): void {
    if (entry.gone) return;
    entry.gone = true;
    this.#entries.delete(entry.message.id);
    this.#openLane(entry);
    this.#env.removed(this, entry.message);
  }

  /** Lets the next message of the ordering key through when the first of it has gone. */
  #openLane(entry: Entry): void {
    const lane = this.#laneOf(entry);
    if (lane?.peek() !== entry) return;
    while (lane.peek()?.gone) lane.shift();
    const next = lane.peek();
    if (next) this.#ready.push(next);
    else this.#lanes.delete(entry.message.orderingKey);
  }

  #watchRetention(): void {
    if (this.#cancelRetention) return;
    const [oldest] = this.#entries.values();
    if (!oldest) return;
    const { time } = this.#env;
    const retention = toMs(this.#settings.messageRetentionDuration)!;
    this.#cancelRetention = time.setTimeout(
      () => {
        this.#cancelRetention = undefined;
        const limit = time.now() - retention;
        for (const entry of this.#entries.values()) {
          if (entry.message.publishTime > limit) break;
          this.#remove(entry);
        }
        this.#watchRetention();
        this.consumer?.pump();
      },
      oldest.message.publishTime + retention - time.now(),
    );
  }
}
