import { OWN_ATTRIBUTES } from '../../functions/core/dead-letter.ts';
import type { Micros } from '../../functions/core/event.ts';
import type { Message } from '../../functions/ports.ts';

/** A row of the table `dead_letters`. */
export interface Letter {
  readonly messageId: string;
  readonly publishTime: Micros;
  readonly data: Uint8Array;
  readonly attributes: Readonly<Record<string, string>>;
}

/** How often a message was published again; on the messages that this command publishes. */
export const REDRIVEN = 'redriven';

/** Set by Pub/Sub on what it forwards by itself: all other attributes are then the message's own. */
const FORWARDED = 'CloudPubSubDeadLetterSource';

/** Where a message came from: a subscription (full name), the function submit, or a join, which has no input to repeat. */
export type Origin =
  { readonly kind: 'subscription'; readonly name: string } | { readonly kind: 'submit' | 'join' | 'unknown' };

export function originOf({ attributes }: Letter): Origin {
  const forwarder = attributes[`${FORWARDED}Subscription`];
  if (forwarder !== undefined) {
    const project = attributes[`${FORWARDED}SubscriptionProject`];
    return { kind: 'subscription', name: `projects/${project}/subscriptions/${forwarder}` };
  }
  const { reason, origin } = attributes;
  if (reason === 'result_too_large' || origin === 'join') return { kind: 'join' };
  if (origin === 'submit' || origin?.startsWith('submit/') === true) return { kind: 'submit' };
  if (origin !== undefined && /^projects\/[^/]+\/subscriptions\/[^/]+$/.test(origin)) {
    return { kind: 'subscription', name: origin };
  }
  return { kind: 'unknown' };
}

/** Why it is a dead letter; `none` when Pub/Sub gave up and forwarded it. */
export function reasonOf({ attributes }: Letter): string {
  return `${FORWARDED}Subscription` in attributes ? 'none' : (attributes['reason'] ?? 'none');
}

export function timesRedriven({ attributes }: Letter): number {
  const times = Number(attributes[REDRIVEN] ?? 0);
  return Number.isSafeInteger(times) && times > 0 ? times : 0;
}

/** One for each dead letter. Pub/Sub may write a row twice; message ids alone do not survive a restart everywhere. */
export function letterId({ publishTime, messageId }: Letter): string {
  return `${publishTime}/${messageId}`;
}

/**
 * The message to publish: the bytes as they were, the message's own attributes, and the id that the event had, so that
 * an event that arrived after all has no second effect.
 */
export function messageAgain(letter: Letter): Message {
  const orderingKey = isForwarded(letter) ? undefined : letter.attributes['ordering_key'];
  return {
    data: letter.data,
    attributes: {
      ...ownAttributes(letter),
      event_id: letter.attributes['event_id'] ?? letter.messageId,
      [REDRIVEN]: String(timesRedriven(letter) + 1),
    },
    ...(orderingKey === undefined ? {} : { orderingKey }),
  };
}

function isForwarded({ attributes }: Letter): boolean {
  return `${FORWARDED}Subscription` in attributes;
}

function ownAttributes(letter: Letter): Record<string, string> {
  const forwarded = isForwarded(letter);
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(letter.attributes)) {
    if (forwarded) {
      if (!name.startsWith(FORWARDED)) own[name] = value;
      continue;
    }
    const original = name.startsWith('original_') ? name.slice('original_'.length) : '';
    if (OWN_ATTRIBUTES.has(original)) own[original] = value;
    else if (!OWN_ATTRIBUTES.has(name)) own[name] = value;
  }
  return own;
}
