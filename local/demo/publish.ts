import type { PubSub } from '@google-cloud/pubsub';
import { setTimeout as sleep } from 'node:timers/promises';

export interface PublishOptions {
  /** Messages a second; null is as fast as it goes. */
  readonly rate: number | null;
  readonly signal: AbortSignal;
  /** Called after every confirmed message with the number confirmed so far. */
  readonly onProgress: (done: number) => void;
}

/** Unconfirmed messages at a time. */
const IN_FLIGHT = 2_000;

/**
 * Publishes the lines to the topic `events` with the real client, in order of their start, and waits for every answer.
 * Returns the ids of the messages.
 *
 * @throws the first error of the client
 */
export async function publish(pubsub: PubSub, lines: readonly string[], options: PublishOptions): Promise<string[]> {
  const topic = pubsub.topic('events', { batching: { maxMessages: 200, maxMilliseconds: 10 } });
  const published = new Array<string>(lines.length);
  const pending = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const start = Date.now();
  let done = 0;
  for (const [index, line] of lines.entries()) {
    if (options.signal.aborted || failures.length > 0) break;
    if (options.rate !== null) {
      const ahead = (index / options.rate) * 1000 - (Date.now() - start);
      if (ahead > 5) await sleep(ahead, undefined, { signal: options.signal });
    }
    const one: Promise<void> = topic
      .publishMessage({ data: Buffer.from(line) })
      .then((messageId) => {
        published[index] = messageId;
        options.onProgress(++done);
      })
      .catch((error: unknown) => void failures.push(error))
      .finally(() => pending.delete(one));
    pending.add(one);
    if (pending.size >= IN_FLIGHT) await Promise.race(pending);
  }
  await topic.flush();
  await Promise.all(pending);
  if (failures.length > 0) throw failures[0];
  options.signal.throwIfAborted();
  return published;
}
