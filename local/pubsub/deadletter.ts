import type { Message } from './message.ts';
import { timeText } from './message.ts';
import type { Entry } from './subscription.ts';
import { shortName, type WireMessage } from './wire.ts';

/** The message that goes to the dead-letter topic: the same content and what Pub/Sub adds about its origin. */
export function deadLetter(entry: Entry, subscription: string, reason: string | undefined): WireMessage {
  const { message, failures } = entry;
  return {
    data: message.data,
    attributes: { ...message.attributes, ...origin(message, failures, subscription, reason) },
    messageId: '',
    publishTime: null,
    orderingKey: message.orderingKey,
  };
}

function origin(message: Message, failures: number, subscription: string, reason: string | undefined) {
  return {
    CloudPubSubDeadLetterSourceDeliveryCount: String(failures),
    CloudPubSubDeadLetterSourceSubscription: shortName(subscription),
    CloudPubSubDeadLetterSourceSubscriptionProject: subscription.split('/')[1] ?? '',
    CloudPubSubDeadLetterSourceTopicPublishTime: timeText(message.publishTime),
    ...(reason === undefined ? {} : { CloudPubSubDeadLetterSourceDeliveryErrorMessage: reason.slice(0, 256) }),
  };
}
