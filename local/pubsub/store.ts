import { JsonJournal } from '../shared/journal.ts';
import { sizeOf, type Message } from './message.ts';
import type { Subscription } from './subscription.ts';
import type { Settings, Topic } from './wire.ts';

interface StoredMessage {
  id: string;
  data: string;
  attributes: Readonly<Record<string, string>>;
  orderingKey: string;
  time: number;
}

/** One line of the journal. */
type Entry =
  | { topic: Topic }
  | { noTopic: string }
  | { subscription: Settings }
  | { noSubscription: string }
  /** To every subscription that the topic has at this point of the journal and whose filter matches. */
  | { publish: string; messages: StoredMessage[] }
  /** In these subscriptions, with so many failures. */
  | { keep: StoredMessage; in: [subscription: string, failures: number][] }
  | { removed: string; id: string }
  | { failed: string; id: string; failures: number };

/** What a journal tells when it is read again. */
export interface Replay {
  topic(topic: Topic): void;
  noTopic(name: string): void;
  subscription(settings: Settings): void;
  noSubscription(name: string): void;
  publish(topic: string, messages: Message[]): void;
  keep(message: Message, where: readonly (readonly [subscription: string, failures: number])[]): void;
  removed(subscription: string, id: string): void;
  failed(subscription: string, id: string, failures: number): void;
}

/**
 * Topics, subscriptions and undelivered messages in a file. A publish is in the file before it is acknowledged;
 * acknowledgements follow within the turn, and one lost with the process means a repeated delivery.
 */
export class Store {
  readonly #journal: JsonJournal<Entry>;
  constructor(dir: string) {
    this.#journal = new JsonJournal(dir, 'pubsub.journal');
  }

  replay(to: Replay): void {
    this.#journal.replay((entry) => {
      if ('topic' in entry) to.topic(entry.topic);
      else if ('noTopic' in entry) to.noTopic(entry.noTopic);
      else if ('subscription' in entry) to.subscription(entry.subscription);
      else if ('noSubscription' in entry) to.noSubscription(entry.noSubscription);
      else if ('publish' in entry) to.publish(entry.publish, entry.messages.map(restore));
      else if ('keep' in entry) to.keep(restore(entry.keep), entry.in);
      else if ('removed' in entry) to.removed(entry.removed, entry.id);
      else to.failed(entry.failed, entry.id, entry.failures);
    });
  }

  /** Rewrites the file with the present state alone. */
  compact(topics: Iterable<Topic>, subscriptions: Iterable<Subscription>): void {
    this.#journal.compact(present([...topics], [...subscriptions]));
  }

  /** True when it is time to compact. */
  get grown(): boolean {
    return this.#journal.grown;
  }

  write(entry: Extract<Entry, { topic: Topic } | { noTopic: string } | { noSubscription: string }>): void {
    this.#journal.write(entry);
  }

  subscription(settings: Settings): void {
    this.#journal.write({ subscription: settings });
  }

  publish(topic: string, messages: readonly Message[]): void {
    this.#journal.write({ publish: topic, messages: messages.map(stored) });
  }

  removed(subscription: string, id: string): void {
    this.#journal.defer({ removed: subscription, id });
  }

  failed(subscription: string, id: string, failures: number): void {
    this.#journal.defer({ failed: subscription, id, failures });
  }

  close(): void {
    this.#journal.close();
  }
}

function* present(topics: readonly Topic[], subscriptions: readonly Subscription[]): Generator<Entry> {
  for (const topic of topics) yield { topic };
  const where = new Map<Message, [string, number][]>();
  for (const subscription of subscriptions) {
    yield { subscription: subscription.settings };
    for (const { message, failures } of subscription.entries()) {
      const list = where.get(message) ?? [];
      list.push([subscription.name, failures]);
      where.set(message, list);
    }
  }
  const messages = [...where].sort(([a], [b]) => Number(a.id) - Number(b.id));
  for (const [message, list] of messages) yield { keep: stored(message), in: list };
}

const stored = ({ id, data, attributes, orderingKey, publishTime }: Message): StoredMessage => ({
  id,
  data: data.toString('base64'),
  attributes,
  orderingKey,
  time: publishTime,
});

function restore({ id, data, attributes, orderingKey, time }: StoredMessage): Message {
  const content = { data: Buffer.from(data, 'base64'), attributes, orderingKey };
  return { ...content, id, publishTime: time, size: sizeOf(content), holders: 0 };
}
