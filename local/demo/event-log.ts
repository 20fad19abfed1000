import path from 'node:path';
import type { AcceptedListener } from '../pubsub/server.ts';
import { PROJECT } from '../resources.ts';
import { JsonJournal } from '../shared/journal.ts';
import type { Published } from './read-event.ts';
import type { Received } from './receive.ts';

const EVENTS = `projects/${PROJECT}/topics/events`;

interface Stored {
  readonly id: string;
  readonly data: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly time: number;
}

/**
 * Every message that the topic of the events ever took, whoever published it, and every result that was received: what
 * a verdict is about. In a folder it outlives the process; a message is in it before its publisher is answered.
 */
export class EventLog {
  readonly received: Received[] = [];
  readonly #published = new Map<string, Published>();
  readonly #files: { readonly published: JsonJournal<Stored[]>; readonly received: JsonJournal<Received> } | null;

  constructor(stateDir: string | null) {
    const dir = stateDir === null ? null : path.join(stateDir, 'demo');
    this.#files = dir === null ? null : { published: new JsonJournal(dir, 'published.journal'), received: new JsonJournal(dir, 'received.journal') }; // prettier-ignore
    if (this.#files === null) return;
    const { published, received } = this.#files;
    published.replay((batch) => batch.map(restore).forEach((one) => this.#published.set(one.messageId, one)));
    published.compact(this.#published.values().map((one) => [stored(one)]));
    received.replay((one) => this.received.push(one));
    received.compact(this.received);
  }

  /** In the order in which Pub/Sub took them. */
  get published(): readonly Published[] {
    return [...this.#published.values()];
  }

  readonly listener: AcceptedListener = (topic, messages) => {
    if (topic !== EVENTS) return;
    // A journal that is read again tells of messages that are here already.
    const fresh = messages
      .filter(({ id }) => !this.#published.has(id))
      .map(({ id, data, attributes, publishTime }) => ({ messageId: id, data, attributes, time: publishTime * 1000 }));
    if (fresh.length === 0) return;
    this.#files?.published.write(fresh.map(stored));
    for (const one of fresh) this.#published.set(one.messageId, one);
  };

  /** Before the result is acknowledged. */
  receive(result: Received): void {
    this.#files?.received.write(result);
    this.received.push(result);
  }

  close(): void {
    this.#files?.published.close();
    this.#files?.received.close();
  }
}

const stored = ({ messageId, data, attributes, time }: Published): Stored => ({
  id: messageId,
  data: data.toString('base64'),
  attributes,
  time,
});

const restore = ({ id, data, attributes, time }: Stored): Published => ({
  messageId: id,
  data: Buffer.from(data, 'base64'),
  attributes,
  time,
});
