import type { v1 } from '@google-cloud/pubsub';
import type { Config } from '../config.ts';
import { AmbiguousError, PermanentError, toError } from '../core/errors.ts';
import type { Bus, Message, TopicName } from '../ports.ts';
import { messageSize } from './publish-request.ts';
import type { AdapterContext } from './runtime.ts';
import { fromStatus, withDeadline } from './status.ts';

type Outcome = string | Error;

/**
 * Publishes through the request of Google's client, without its queues: callers have their messages together, and the
 * queues cost as much CPU as the rest. They also change attributes: the project's name takes the place of `{{projectId}}`.
 */
export function createBus({ config }: Pick<AdapterContext, 'config'>): Bus {
  let client: Promise<v1.PublisherClient> | undefined;
  const deadlineMs = config.portDeadline / 1000;
  const options = callOptions(deadlineMs);

  /** Loaded with the first message: most instances that start have none to publish yet. */
  const open = async () => (await import('./pubsub-client.ts')).connect(config);

  /** One request. */
  async function send(topic: string, messages: readonly Message[], end: number): Promise<Outcome[]> {
    const what = `publish to ${topic}`;
    try {
      client ??= open().catch((error: unknown) => {
        client = undefined;
        throw error;
      });
      const request = { topic, messages: messages as Message[] };
      const published = client.then((publisher) => publisher.publish(request, options));
      const [{ messageIds }] = await withDeadline(published, Math.max(0, end - performance.now()), what);
      return messages.map((_, i) => messageIds?.[i] ?? new AmbiguousError(`${what}: an answer without an id`));
    } catch (thrown) {
      const error = fromStatus(toError(thrown), what, 'message_refused');
      return messages.map(() => error);
    }
  }

  /** A request is refused whole; then each message goes alone, since the others are not at fault. */
  async function sendEach(topic: string, messages: readonly Message[], end: number): Promise<Outcome[]> {
    const outcomes = await send(topic, messages, end);
    if (messages.length === 1 || !(outcomes[0] instanceof PermanentError)) return outcomes;
    const alone = messages.map((message) => [message]);
    if (messages[0]!.orderingKey !== undefined) return inOrder(alone, (one) => send(topic, one, end));
    return (await Promise.all(alone.map((one) => send(topic, one, end)))).flat();
  }

  return {
    async publish(topicName, messages) {
      const topic = resolveTopic(topicName, config);
      // The client's own timeout comes first; this one is for calls that hang in it, and for both rounds together.
      const end = performance.now() + deadlineMs + 1000;
      const outcomes = new Array<Outcome>(messages.length);
      // All messages of a request have the same ordering key, or none.
      const byKey = Map.groupBy(messages.keys(), (index) => messages[index]!.orderingKey);
      const sending = [...byKey].map(async ([key, indices]) => {
        const requests = cut(indices.map((index) => messages[index]!));
        const results =
          key === undefined
            ? (await Promise.all(requests.map((request) => sendEach(topic, request, end)))).flat()
            : await inOrder(requests, (request) => sendEach(topic, request, end));
        indices.forEach((index, i) => (outcomes[index] = results[i]!));
      });
      await Promise.all(sending);
      return outcomes;
    },
  };
}

/** One request after the other; what follows a failure that may pass is not sent, or it would overtake. */
async function inOrder(
  requests: readonly (readonly Message[])[],
  send: (request: readonly Message[]) => Promise<Outcome[]>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let failure: Error | undefined;
  for (const request of requests) {
    const results = failure === undefined ? await send(request) : new Array<Outcome>(request.length).fill(failure);
    failure ??= results.find(isPassing);
    outcomes.push(...results);
  }
  return outcomes;
}

const isPassing = (outcome: Outcome): outcome is Error =>
  outcome instanceof Error && !(outcome instanceof PermanentError);

/** Of one request; Pub/Sub takes 1,000 messages and 10 MB, and one message may have all of them. */
const MAX_MESSAGES = 1000;
const MAX_BYTES = 4 * 2 ** 20;

function cut(messages: readonly Message[]): Message[][] {
  const requests: Message[][] = [];
  let bytes = Infinity;
  for (const message of messages) {
    const size = messageSize(message);
    if (bytes + size > MAX_BYTES || requests.at(-1)!.length === MAX_MESSAGES) {
      requests.push([]);
      bytes = 0;
    }
    requests.at(-1)!.push(message);
    bytes += size;
  }
  return requests;
}

function callOptions(deadlineMs: number) {
  return {
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
  };
}

/** Full name; a topic of another project is given by its own. */
function resolveTopic(topic: TopicName, config: Config): string {
  const name = topicId(topic, config);
  return name.startsWith('projects/') ? name : `projects/${config.projectId}/topics/${name}`;
}

function topicId(topic: TopicName, config: Config): string {
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
