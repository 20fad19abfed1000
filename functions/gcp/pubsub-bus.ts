import type { PubSub, PublishOptions, Topic } from '@google-cloud/pubsub';
import type { Config } from '../config.ts';
import { PermanentError, toError } from '../core/errors.ts';
import type { Bus, Message, TopicName } from '../ports.ts';
import { channelOptions } from './channel.ts';
import type { AdapterContext } from './runtime.ts';
import { fromStatus, withDeadline } from './status.ts';

/** Publishes through Google's client, which puts the messages of one moment into one request. */
export function createBus({ config }: Pick<AdapterContext, 'config'>): Bus {
  let client: Promise<PubSub> | undefined;
  const deadlineMs = config.portDeadline / 1000;
  const topics = new Map<string, Topic>();

  const topicOf = async (name: string, batching: NonNullable<PublishOptions['batching']>): Promise<Topic> => {
    client ??= connect(config);
    const ready = await client;
    const key = JSON.stringify([name, batching]);
    let topic = topics.get(key);
    if (topic === undefined) {
      topic = ready.topic(name, { ...publishOptions(deadlineMs), batching });
      topics.set(key, topic);
    }
    return topic;
  };

  async function publishAll(
    topic: Topic,
    name: string,
    messages: readonly Message[],
    ms: number,
  ): Promise<(string | Error)[]> {
    const results = await Promise.all(messages.map((message) => publishOne(topic, message, name, ms)));
    // After a failure the client refuses later messages of the same ordering key until it is told to go on.
    const stopped = new Set(messages.filter((_, index) => results[index] instanceof Error).map(orderingKeyOf));
    for (const key of stopped) if (key !== undefined) topic.resumePublishing(key);
    return results;
  }

  return {
    async publish(topicName, messages) {
      const name = resolveTopic(topicName, config);
      // The client's own timeout comes first; this one is for calls that hang in it, and for both rounds together.
      const end = performance.now() + deadlineMs + 1000;
      const left = (): number => Math.max(0, end - performance.now());
      const results = await publishAll(await topicOf(name, TOGETHER), name, messages, left());
      // A request is refused whole, and its other messages, also those of other callers, are not at fault.
      const refused = [...results.keys()].filter((index) => results[index] instanceof PermanentError);
      if (refused.length === 0) return results;
      const again = await publishAll(
        await topicOf(name, ALONE),
        name,
        refused.map((index) => messages[index]!),
        left(),
      );
      refused.forEach((index, i) => (results[index] = again[i]!));
      return results;
    },
  };
}

/** A message waits for others only within one turn: groups of requests have been formed before. */
const TOGETHER = { maxMilliseconds: 1, maxMessages: 1000, maxBytes: 4 * 2 ** 20 };
const ALONE = { maxMessages: 1 };

/** Loaded with the first message: most instances that start have none to publish yet. */
async function connect(config: Config): Promise<PubSub> {
  const { projectId, pubsubHost } = config;
  const { PubSub } = await import('@google-cloud/pubsub');
  return new PubSub({
    projectId,
    ...channelOptions(config),
    ...(pubsubHost === null ? {} : { apiEndpoint: pubsubHost, emulatorMode: true }),
  });
}

function orderingKeyOf(message: Message): string | undefined {
  return message.orderingKey;
}

async function publishOne(topic: Topic, message: Message, name: string, ms: number): Promise<string | Error> {
  try {
    const published = topic.publishMessage({
      data: toBuffer(message.data),
      attributes: { ...message.attributes },
      ...(message.orderingKey === undefined ? {} : { orderingKey: message.orderingKey }),
    });
    return await withDeadline(published, ms, `publish to ${name}`);
  } catch (error) {
    return fromStatus(toError(error), `publish to ${name}`, 'message_refused');
  }
}

/** Other byte arrays than Buffers cost the client half a second for each megabyte. */
function toBuffer(data: Message['data']): Buffer {
  return typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

function publishOptions(deadlineMs: number): PublishOptions {
  return {
    messageOrdering: true,
    gaxOpts: {
      timeout: deadlineMs,
      retry: {
        retryCodes: [8, 10, 13, 14],
        backoffSettings: {
          initialRetryDelayMillis: 100,
          retryDelayMultiplier: 2,
          maxRetryDelayMillis: 1000,
          initialRpcTimeoutMillis: deadlineMs / 2,
          rpcTimeoutMultiplier: 1,
          maxRpcTimeoutMillis: deadlineMs,
          totalTimeoutMillis: deadlineMs,
        },
      },
    },
  };
}

function resolveTopic(topic: TopicName, config: Config): string {
  if (typeof topic === 'object') return topic.name;
  const names = {
    events: config.eventsTopic,
    completions: config.completionsTopic,
    summaries: config.summariesTopic,
    deadLetters: config.deadLettersTopic,
    results: config.resultsTopic,
  };
  return names[topic];
}
