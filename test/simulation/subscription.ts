import type { Message } from '../../functions/ports.ts';
import { formatMicros } from '../../functions/core/time.ts';
import type { Entry } from './instance.ts';
import type { World } from './world.ts';

const ACK_DEADLINE = 90e6;
const BACKOFF = { least: 10e6, most: 600e6 };

/** A message until somebody acknowledges it. */
export interface Held {
  readonly id: string;
  readonly message: Message;
  readonly publishTime: number;
  attempts: number;
  acknowledged: boolean;
}

/**
 * A push subscription: at least once, in any order. No answer within the ack deadline counts as none, although whoever
 * was asked goes on.
 */
export class Subscription {
  readonly held = new Map<string, Held>();
  readonly entry: Entry;
  readonly #world: World;
  readonly #acknowledged: (held: Held) => void;

  constructor(world: World, entry: Entry, acknowledged: (held: Held) => void = () => undefined) {
    this.#world = world;
    this.entry = entry;
    this.#acknowledged = acknowledged;
  }

  /** Pub/Sub itself gives up after the last attempt, and says so on the topic of dead letters. */
  #giveUp(held: Held): void {
    this.#forget(held);
    const { data, attributes } = held.message;
    const count = { CloudPubSubDeadLetterSourceDeliveryCount: String(held.attempts) };
    this.#world.bus.publish('deadLetters', [{ data: Buffer.from(data), attributes: { ...attributes, ...count } }]);
    this.#acknowledged(held);
  }

  #forget(held: Held): void {
    held.acknowledged = true;
    this.held.delete(held.id);
  }

  take(message: Message, id: string): void {
    const held = { id, message, publishTime: this.#world.clock.now(), attempts: 0, acknowledged: false };
    this.held.set(id, held);
    this.#schedule(held, 0);
  }

  #schedule(held: Held, wait: number): void {
    const { tasks, clock, config } = this.#world;
    if (held.attempts >= config.maxAttempts) return this.#giveUp(held);
    tasks.add(`deliver ${this.entry} ${held.id}`, clock.now() + wait, () => {
      if (!held.acknowledged) this.#deliver(held);
    });
  }

  #deliver(held: Held): void {
    const world = this.#world;
    held.attempts++;
    const repeat = world.director.repeat();
    if (repeat !== null) {
      world.tasks.add(`repeat ${held.id}`, world.clock.now() + repeat * 1000, () => {
        held.attempts++;
        this.#push(held, () => undefined);
      });
    }
    let open = true;
    const close = (): boolean => {
      const was = open;
      open = false;
      return was && !held.acknowledged;
    };
    this.#push(held, (status) => {
      if (!close()) return;
      if (status >= 200 && status < 300) {
        this.#forget(held);
        this.#acknowledged(held);
      } else {
        this.#schedule(held, Math.min(BACKOFF.most, BACKOFF.least * 2 ** (held.attempts - 1)));
      }
    });
    world.tasks.add(`ack deadline ${held.id}`, world.clock.now() + ACK_DEADLINE, () => {
      if (close()) this.#schedule(held, BACKOFF.least);
    });
  }

  #push(held: Held, answer: (status: number) => void): void {
    const { message, id, attempts, publishTime } = held;
    const body = {
      message: {
        data: Buffer.from(message.data as string).toString('base64'),
        attributes: message.attributes,
        messageId: id,
        publishTime: formatMicros(publishTime),
      },
      subscription: this.entry,
      deliveryAttempt: attempts,
    };
    this.#world
      .chooseInstance()
      .serve(
        this.entry,
        `${this.entry} ${id} attempt ${attempts}`,
        { body, rawBody: Buffer.from(JSON.stringify(body)) },
        ({ status }) => answer(status),
      );
  }
}
