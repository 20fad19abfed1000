import { StatusError } from '../shared/faults.ts';
import type { Meter } from '../shared/meter.ts';
import type { Time } from '../shared/time.ts';
import { deadLetter } from './deadletter.ts';
import { sizeOf, type Message } from './message.ts';
import { Store, type Replay } from './store.ts';
import { Subscription, type Consumer, type Entry, type Surroundings } from './subscription.ts';
import type { Settings, Topic, WireMessage } from './wire.ts';

const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const RESOURCE_EXHAUSTED = 8;

/** What the topic of a subscription is called after its deletion. */
const DELETED = '_deleted-topic_';

export interface BrokerEnv {
  readonly time: Time;
  readonly meter: Meter;
  readonly stateDir: string | undefined;
  /** Bytes of undelivered messages from which on publishing is refused. */
  readonly maxBacklogBytes: number;
  readonly consumers: Record<Delivery, (subscription: Subscription) => Consumer>;
  readonly onAccepted: AcceptedListener;
}

/**
 * Told of the messages that a topic takes, before the publisher is answered; of those in the journal once more when it
 * is read again.
 */
export type AcceptedListener = (topic: string, messages: readonly Message[]) => void;

/** How the messages of a subscription leave. */
export type Delivery = 'push' | 'bigquery' | 'pull';

export function deliveryOf({ pushConfig, bigqueryConfig }: Settings): Delivery {
  if (pushConfig?.pushEndpoint) return 'push';
  return bigqueryConfig?.table ? 'bigquery' : 'pull';
}

/** Topics, subscriptions and the way of messages between them. */
export class Broker implements Surroundings {
  readonly time: Time;
  readonly topics = new Map<string, Topic>();
  readonly subscriptions = new Map<string, Subscription>();
  readonly #env: BrokerEnv;
  readonly #boot = Math.random().toString(36).slice(2, 10);
  #store: Store | undefined;
  #lastId: number;
  #ackIds = 0;
  #bytes = 0;
  /** Called whenever a message leaves a subscription. */
  onRemoved: () => void = () => undefined;

  constructor(env: BrokerEnv) {
    this.#env = env;
    this.time = env.time;
    this.#lastId = env.time.now() * 1000;
    if (env.stateDir !== undefined) {
      const store = new Store(env.stateDir);
      store.replay(this.#replay());
      store.compact(this.topics.values(), this.subscriptions.values());
      this.#store = store;
    }
    for (const subscription of this.subscriptions.values()) this.#start(subscription);
  }

  topic(name: string): Topic {
    const topic = this.topics.get(name);
    if (!topic) throw new StatusError(NOT_FOUND, `Resource not found (resource=${name}).`);
    return topic;
  }

  subscription(name: string): Subscription {
    const subscription = this.subscriptions.get(name);
    if (!subscription) throw new StatusError(NOT_FOUND, `Resource not found (resource=${name}).`);
    return subscription;
  }

  createTopic(topic: Topic): Topic {
    if (this.topics.has(topic.name)) throw exists(topic.name);
    return this.putTopic(topic);
  }

  putTopic(topic: Topic): Topic {
    this.#store?.write({ topic });
    this.topics.set(topic.name, topic);
    return topic;
  }

  deleteTopic(name: string): void {
    this.topic(name);
    this.#store?.write({ noTopic: name });
    this.#dropTopic(name);
  }

  createSubscription(settings: Settings): Settings {
    if (this.subscriptions.has(settings.name)) throw exists(settings.name);
    this.topic(settings.topic);
    this.#checkDeadLetterTopic(settings);
    const subscription = new Subscription(settings, this);
    this.#store?.subscription(settings);
    this.subscriptions.set(settings.name, subscription);
    this.#start(subscription);
    return settings;
  }

  updateSubscription(subscription: Subscription, settings: Settings): Settings {
    this.#checkDeadLetterTopic(settings);
    this.#store?.subscription(settings);
    const before = deliveryOf(subscription.settings);
    subscription.settings = settings;
    if (deliveryOf(settings) === before) {
      subscription.consumer?.pump();
    } else {
      subscription.consumer?.close();
      this.#start(subscription);
    }
    return settings;
  }

  deleteSubscription(name: string): void {
    const subscription = this.subscription(name);
    this.#store?.write({ noSubscription: name });
    this.subscriptions.delete(name);
    subscription.clear();
  }

  /** Publishes checked messages; returns their ids. */
  publish(topic: string, messages: readonly WireMessage[]): string[] {
    this.topic(topic);
    if (this.#bytes > this.#env.maxBacklogBytes) {
      throw new StatusError(RESOURCE_EXHAUSTED, 'The undelivered messages exceed the memory set aside for them.');
    }
    return this.#accept(topic, messages);
  }

  #accept(topic: string, messages: readonly WireMessage[]): string[] {
    const publishTime = this.time.now();
    const accepted = messages.map(({ data, attributes, orderingKey }): Message => {
      // A copy: the buffer of a message is a piece of its whole request, which would stay in memory with it.
      const content = { data: Buffer.from(data), attributes, orderingKey };
      return { ...content, id: String(++this.#lastId), publishTime, size: sizeOf(content), holders: 0 };
    });
    const takers = this.#takers(topic);
    if (takers.length > 0) this.#store?.publish(topic, accepted);
    this.#env.onAccepted(topic, accepted);
    this.#route(takers, accepted);
    for (const subscription of takers) subscription.consumer?.pump();
    this.#compact();
    return accepted.map(({ id }) => id);
  }

  removed(subscription: Subscription, message: Message): void {
    this.#store?.removed(subscription.name, message.id);
    if (--message.holders === 0) this.#bytes -= message.size;
    this.onRemoved();
  }

  failed(subscription: Subscription, { message, failures }: Entry): void {
    this.#env.meter.add('pubsub.failed_deliveries');
    this.#store?.failed(subscription.name, message.id, failures);
  }

  deadLetter(subscription: Subscription, entry: Entry, reason: string | undefined): boolean {
    const topic = subscription.settings.deadLetterPolicy!.deadLetterTopic;
    if (!this.topics.has(topic)) return false;
    // Without the limit of memory: this message is in it already.
    this.#accept(topic, [deadLetter(entry, subscription.name, reason)]);
    this.#env.meter.add('pubsub.dead_lettered_messages');
    return true;
  }

  nextAckId(): string {
    return `${this.#boot}-${(this.#ackIds++).toString(36)}`;
  }

  close(): void {
    for (const subscription of this.subscriptions.values()) subscription.close();
    this.#store?.close();
    this.#store = undefined;
  }

  #start(subscription: Subscription): void {
    subscription.consumer = this.#env.consumers[deliveryOf(subscription.settings)](subscription);
    subscription.consumer.pump();
  }

  #takers(topic: string): Subscription[] {
    return [...this.subscriptions.values()].filter(({ settings }) => settings.topic === topic);
  }

  #route(takers: readonly Subscription[], messages: readonly Message[]): void {
    for (const message of messages) {
      for (const subscription of takers) if (subscription.matches(message.attributes)) subscription.add(message);
      if (message.holders > 0) this.#bytes += message.size;
    }
  }

  #checkDeadLetterTopic({ deadLetterPolicy }: Settings): void {
    if (deadLetterPolicy) this.topic(deadLetterPolicy.deadLetterTopic);
  }

  #dropTopic(name: string): void {
    this.topics.delete(name);
    for (const subscription of this.#takers(name)) {
      subscription.settings = { ...subscription.settings, topic: DELETED };
    }
  }

  #compact(): void {
    if (this.#store?.grown) this.#store.compact(this.topics.values(), this.subscriptions.values());
  }

  #replay(): Replay {
    const saw = (message: Message) => {
      this.#lastId = Math.max(this.#lastId, Number(message.id));
    };
    return {
      topic: (topic) => this.topics.set(topic.name, topic),
      noTopic: (name) => this.#dropTopic(name),
      subscription: (settings) => {
        const known = this.subscriptions.get(settings.name);
        if (known) known.settings = settings;
        else this.subscriptions.set(settings.name, new Subscription(settings, this));
      },
      noSubscription: (name) => {
        this.subscriptions.get(name)?.clear();
        this.subscriptions.delete(name);
      },
      publish: (topic, messages) => {
        messages.forEach(saw);
        this.#env.onAccepted(topic, messages);
        this.#route(this.#takers(topic), messages);
      },
      keep: (message, where) => {
        saw(message);
        for (const [name, failures] of where) this.subscriptions.get(name)?.add(message, failures);
        if (message.holders > 0) this.#bytes += message.size;
      },
      removed: (name, id) => this.subscriptions.get(name)?.forget(id),
      failed: (name, id, failures) => {
        const entry = this.subscriptions.get(name)?.entry(id);
        if (entry) entry.failures = failures;
      },
    };
  }
}

const exists = (name: string) =>
  new StatusError(ALREADY_EXISTS, `Resource already exists in the project (resource=${name}).`);
