import type { PubSub } from '@google-cloud/pubsub';
import { originOf, type Letter } from './letter.ts';
import type { Rules } from './run.ts';

/** Finds the topic of each origin; a subscription is asked for it once. */
export function topicFinder(pubsub: PubSub, eventsTopic: string): Rules['topicOf'] {
  const known = new Map<string, Promise<string | null>>();
  const topicOf = (subscription: string): Promise<string | null> => {
    const found = known.get(subscription) ?? lookUp(pubsub, subscription);
    known.set(subscription, found);
    return found;
  };
  return async (letter: Letter) => {
    const origin = originOf(letter);
    switch (origin.kind) {
      case 'submit':
        return { topic: eventsTopic };
      case 'join':
        return { skipped: 'joined' };
      case 'unknown':
        return { skipped: 'unknown_origin' };
      case 'subscription': {
        const topic = await topicOf(origin.name);
        return topic === null ? { skipped: 'unknown_origin' } : { topic };
      }
    }
  };
}

/** Null when the subscription or its topic is gone. */
async function lookUp(pubsub: PubSub, subscription: string): Promise<string | null> {
  try {
    const [{ topic }] = await pubsub.subscription(subscription).getMetadata();
    return typeof topic === 'string' && topic.startsWith('projects/') ? topic : null;
  } catch (error) {
    const NOT_FOUND = 5;
    if ((error as { code?: unknown }).code === NOT_FOUND) return null;
    throw error;
  }
}
