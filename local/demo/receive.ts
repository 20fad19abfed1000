import type { Message, PubSub } from '@google-cloud/pubsub';

export interface Received {
  readonly messageId: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The body, parsed; its text when it is no JSON. */
  readonly message: unknown;
}

/** A subscriber as a consumer would write it: streaming pull, acknowledging each message once `take` has it. */
export class Receiver {
  readonly errors: Error[] = [];
  readonly #subscription;

  constructor(pubsub: PubSub, subscription: string, take: (result: Received) => void) {
    this.#subscription = pubsub.subscription(subscription);
    this.#subscription.on('message', (message: Message) => {
      take({ messageId: message.id, attributes: message.attributes, message: body(message.data) });
      message.ack();
    });
    this.#subscription.on('error', (error: Error) => this.errors.push(error));
  }

  async close(): Promise<void> {
    await this.#subscription.close();
  }
}

function body(data: Buffer): unknown {
  const text = data.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
