import { PubSub, v1 } from '@google-cloud/pubsub';
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startReceiver, type Receiver } from '../shared/receiver.ts';
import { startPubSub, type PubSubOptions, type PubSubServer } from './server.ts';

/** For the tests of this folder: a server, the real client and an endpoint to push to. */

process.env['METADATA_SERVER_DETECTION'] = 'none';

export interface Fixture {
  readonly server: PubSubServer;
  readonly pubsub: PubSub;
  readonly receiver: Receiver;
  /** The low-level subscriber, for single pulls. */
  readonly subscriber: InstanceType<typeof v1.SubscriberClient>;
}

export async function connect(server: PubSubServer): Promise<PubSub> {
  process.env['PUBSUB_EMULATOR_HOST'] = server.address;
  return new PubSub({ projectId: 'demo' });
}

/** Starts everything and ends it with the test. */
export async function setup(context: TestContext, options: PubSubOptions = {}): Promise<Fixture> {
  const server = await startPubSub(options);
  const receiver = await startReceiver();
  const pubsub = await connect(server);
  const config = await pubsub.getClientConfig();
  const subscriber = new v1.SubscriberClient(config as ConstructorParameters<typeof v1.SubscriberClient>[0]);
  context.after(async () => {
    await subscriber.close();
    await pubsub.close();
    await server.stop();
    await receiver.stop();
  });
  return { server, pubsub, receiver, subscriber };
}

export const name = (kind: 'topics' | 'subscriptions', id: string) => `projects/demo/${kind}/${id}`;

/** Asserts that a promise rejects with a gRPC status. */
export async function rejects(promise: Promise<unknown>, code: number, message?: RegExp): Promise<void> {
  await assert.rejects(promise, (error: Error & { code?: number }) => {
    assert.equal(error.code, code, error.message);
    if (message) assert.match(error.message, message);
    return true;
  });
}
