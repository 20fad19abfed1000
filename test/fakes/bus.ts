import { AmbiguousError, PermanentError } from '../../functions/core/errors.ts';
import type { Bus, Message, TopicName } from '../../functions/ports.ts';
import { through, type Gate, type Part, type PortCall } from './gate.ts';

/** Messages by topic, in the order in which they were published; shared by all instances. */
export class FakeBus {
  readonly topics = new Map<string, Message[]>();
  /** Called for every message as it is published, so that a simulation can deliver it. */
  onPublish: (topic: string, message: Message, id: string) => void = () => undefined;
  #count = 0;

  /** The id of each message, or why it can never be published. */
  publish(topic: TopicName, messages: readonly Message[]): (string | Error)[] {
    const name = typeof topic === 'string' ? topic : topic.name;
    const list = this.topics.get(name) ?? [];
    this.topics.set(name, list);
    return messages.map((message) => {
      const refusal = whyRefused(message);
      if (refusal !== null) return new PermanentError('message_refused', refusal);
      list.push(message);
      const id = `m${++this.#count}`;
      this.onPublish(name, message, id);
      return id;
    });
  }

  /** Each message of a batch has a fate of its own. */
  #publishPart(topic: TopicName, messages: readonly Message[], part: Part | undefined): (string | Error)[] {
    const middle = Math.ceil(messages.length / 2);
    const happens = (i: number) => part === undefined || i < middle === (part === 'first');
    return messages.map((message, i) =>
      happens(i) ? this.publish(topic, [message])[0]! : new AmbiguousError('the answer for this message was lost'),
    );
  }

  published(topic: string): readonly Message[] {
    return this.topics.get(topic) ?? [];
  }

  /** The port of one instance. */
  port(gate: Gate): Bus {
    return {
      publish: async (topic, messages) => {
        const resource = typeof topic === 'string' ? topic : topic.name;
        try {
          const call: PortCall = { port: 'bus', method: 'publish', resource, parts: messages.length };
          return await through(gate, call, (part) => this.#publishPart(topic, messages, part));
        } catch (error) {
          // The real client reports each message's own failure.
          return messages.map(() => error as Error);
        }
      },
    };
  }
}

/** The limits of Pub/Sub; null for a message within them. */
function whyRefused({ data, attributes, orderingKey = '' }: Message): string | null {
  const names = Object.entries(attributes);
  const isLonger = (text: string, bytes: number) => Buffer.byteLength(text) > bytes;
  if (data.length === 0 && names.length === 0) return 'a message needs data or an attribute';
  if (Buffer.byteLength(data) > 10_000_000) return 'a message has at most 10 MB';
  if (names.length > 100) return 'a message has at most 100 attributes';
  if (isLonger(orderingKey, 1024)) return 'an ordering key has at most 1,024 bytes';
  for (const [name, value] of names) {
    if (name === '' || /^goog/i.test(name) || isLonger(name, 256)) return `illegal attribute ${name.slice(0, 300)}`;
    if (isLonger(value, 1024)) return `the attribute ${name} has more than 1,024 bytes`;
  }
  return null;
}
