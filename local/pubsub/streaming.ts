import type * as grpc from '@grpc/grpc-js';
import { StatusError, type Faults } from '../shared/faults.ts';
import type { Meter } from '../shared/meter.ts';
import { serviceError } from '../shared/rpc.ts';
import type { Time } from '../shared/time.ts';
import { toWire } from './message.ts';
import type { Consumer, Lease, Subscription } from './subscription.ts';
import type { ReceivedMessage, StreamingPullRequest } from './wire.ts';

export interface PullEnv {
  readonly time: Time;
  readonly faults: Faults;
  readonly meter: Meter;
}

export type PullStream = grpc.ServerDuplexStream<StreamingPullRequest, object>;

/** One open StreamingPull. */
interface Stream {
  readonly call: PullStream;
  readonly deadlineMs: number;
  readonly maxMessages: number;
  readonly maxBytes: number;
  messages: number;
  bytes: number;
  /** The connection takes no more for the moment. */
  blocked: boolean;
}

interface Waiter {
  readonly max: number;
  readonly answer: (messages: ReceivedMessage[]) => void;
}

const BATCH = 100;
const BATCH_BYTES = 4_000_000;
const MIN_BYTES = 1000;
/** How long a Pull waits for a first message, in milliseconds. */
const PULL_WAIT = 5000;

/** Clients that pull, by stream or by single calls. */
export class Pullers implements Consumer {
  readonly #subscription: Subscription;
  readonly #env: PullEnv;
  #streams: Stream[] = [];
  readonly #waiters = new Set<Waiter>();

  constructor(subscription: Subscription, env: PullEnv) {
    this.#subscription = subscription;
    this.#env = env;
  }

  pump(): void {
    for (const waiter of this.#waiters) {
      const messages = this.#pullNow(waiter.max);
      if (messages.length === 0) break;
      this.#waiters.delete(waiter);
      waiter.answer(messages);
    }
    // The next round begins with another stream, so that the messages spread.
    for (let idle = 0; idle < this.#streams.length;) {
      const stream = this.#streams.shift()!;
      this.#streams.push(stream);
      idle = this.#feed(stream) ? 0 : idle + 1;
    }
  }

  close(): void {
    for (const waiter of this.#waiters) waiter.answer([]);
    this.#waiters.clear();
    for (const { call } of this.#streams) {
      call.emit('error', serviceError(new StatusError(14, 'The subscription changed or the server ended.')));
    }
    this.#streams = [];
  }

  /** Pull: what is ready, or the first that comes within a while. */
  async pull(max: number, wait: boolean, signal: AbortSignal): Promise<ReceivedMessage[]> {
    const ready = this.#pullNow(max);
    if (ready.length > 0 || !wait || signal.aborted) return ready;
    return new Promise((resolve) => {
      const finish = (messages: ReceivedMessage[]) => {
        cancel();
        this.#waiters.delete(waiter);
        resolve(messages);
      };
      const waiter: Waiter = { max, answer: finish };
      const cancel = this.#env.time.setTimeout(() => finish([]), PULL_WAIT);
      signal.addEventListener('abort', () => finish([]));
      this.#waiters.add(waiter);
    });
  }

  /** StreamingPull, from its first request on. */
  open(call: PullStream, first: StreamingPullRequest): void {
    const stream: Stream = {
      call,
      deadlineMs: (first.streamAckDeadlineSeconds || this.#subscription.settings.ackDeadlineSeconds) * 1000,
      maxMessages: Number(first.maxOutstandingMessages) || Infinity,
      maxBytes: Number(first.maxOutstandingBytes) || Infinity,
      messages: 0,
      bytes: 0,
      blocked: false,
    };
    this.#streams.push(stream);
    const leave = () => {
      this.#streams = this.#streams.filter((other) => other !== stream);
    };
    call.on('end', () => {
      leave();
      call.end();
    });
    call.on('cancelled', leave);
    call.on('error', leave);
    call.on('drain', () => {
      stream.blocked = false;
      this.pump();
    });
    this.pump();
  }

  /** Answers the sign of life of a client: without one it would open the stream anew. */
  keepAlive(call: PullStream): void {
    call.write(this.#answer([]));
  }

  #pullNow(max: number): ReceivedMessage[] {
    const until = this.#env.time.now() + this.#subscription.settings.ackDeadlineSeconds * 1000;
    const leases = this.#subscription.take(Math.min(max, 1000), BATCH_BYTES, until);
    if (leases.length > 0) this.#count(leases);
    return leases.map((lease) => this.#received(lease));
  }

  /** Sends one batch; false when there is nothing to send or no room for it. */
  #feed(stream: Stream): boolean {
    const room = Math.min(stream.maxMessages - stream.messages, BATCH);
    if (stream.blocked || room <= 0 || stream.bytes >= stream.maxBytes) return false;
    const until = this.#env.time.now() + stream.deadlineMs;
    const leases = this.#subscription.take(room, Math.min(BATCH_BYTES, stream.maxBytes - stream.bytes), until);
    if (leases.length === 0) return false;
    for (const lease of leases) {
      const { size } = lease.entry.message;
      stream.messages++;
      stream.bytes += size;
      lease.onEnd = () => {
        stream.messages--;
        stream.bytes -= size;
      };
    }
    this.#send(stream, leases);
    return true;
  }

  #send(stream: Stream, leases: readonly Lease[]): void {
    const { faults, time } = this.#env;
    const fault = faults.next('pubsub', 'StreamingPull', this.#subscription.name);
    // The batch is on nobody's way: it comes again after its deadline.
    if (fault?.kind === 'lose_answer') return;
    if (fault?.kind === 'refuse') {
      this.#streams = this.#streams.filter((other) => other !== stream);
      stream.call.emit('error', serviceError(new StatusError(fault.code ?? 14, 'injected: stream broken')));
      for (const lease of leases) this.#subscription.extend(lease, time.now());
      return;
    }
    const write = () => this.#write(stream, leases);
    if (fault?.kind === 'delay') time.setTimeout(write, fault.ms);
    else write();
    if (fault?.kind === 'deliver_twice') write();
  }

  #write(stream: Stream, leases: readonly Lease[]): void {
    if (stream.call.cancelled || stream.call.destroyed) return;
    this.#count(leases);
    if (!stream.call.write(this.#answer(leases))) stream.blocked = true;
  }

  #answer(leases: readonly Lease[]): object {
    const { enableMessageOrdering } = this.#subscription.settings;
    return {
      receivedMessages: leases.map((lease) => this.#received(lease)),
      subscriptionProperties: { exactlyOnceDeliveryEnabled: false, messageOrderingEnabled: enableMessageOrdering },
    };
  }

  #received({ ackId, entry }: Lease): ReceivedMessage {
    const deliveryAttempt = this.#subscription.settings.deadLetterPolicy ? entry.failures + 1 : 0;
    return { ackId, message: toWire(entry.message), deliveryAttempt };
  }

  #count(leases: readonly Lease[]): void {
    const bytes = leases.reduce((sum, { entry }) => sum + entry.message.size, 0);
    this.#env.meter.add('pubsub.deliver_messages', leases.length);
    this.#env.meter.add('pubsub.deliver_bytes', Math.max(MIN_BYTES, bytes));
  }
}
