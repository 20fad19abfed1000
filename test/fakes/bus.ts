import type { Bus, Message, TopicName } from '../../functions/ports.ts';
import { through, type Gate } from './gate.ts';

/** Messages by topic, in the order in which they were published; shared by all instances. */
export class FakeBus {
  readonly topics = new Map<string, Message[]>();
  /** Called for every message as it is published, so that a simulation can deliver it. */
  onPublish: (topic: string, message: Message, id: string) => void = () => undefined;
  #count = 0;

  publish(topic: TopicName, messages: readonly Message[]): string[] {
    const name = typeof topic === 'string' ? topic : topic.name;
    const list = this.topics.get(name) ?? [];
    this.topics.set(name, list);
    return messages.map((message) => {
      list.push(message);
      const id = `m${++this.#count}`;
      this.onPublish(name, message, id);
      return id;
    });
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
          return await through(gate, { port: 'bus', method: 'publish', resource }, () => this.publish(topic, messages));
        } catch (error) {
          // The real client reports each message's own failure.
          return messages.map(() => error as Error);
        }
      },
    };
  }
}
