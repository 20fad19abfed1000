import type { OutgoingRequest } from '../shared/http-out.ts';
import { timeText } from './message.ts';
import type { Entry } from './subscription.ts';
import type { Settings } from './wire.ts';

/** The HTTP request that carries one message to a push endpoint, without its authorization. */
export function pushRequest(settings: Settings, entry: Entry): OutgoingRequest {
  const { pushEndpoint, noWrapper } = settings.pushConfig!;
  const common = { url: pushEndpoint, method: 'POST', deadline: settings.ackDeadlineSeconds * 1000 };
  const headers = { 'user-agent': 'CloudPubSub-Google', from: 'noreply@google.com', accept: 'application/json' };
  if (noWrapper) {
    const metadata = noWrapper.writeMetadata ? metadataHeaders(settings, entry) : {};
    return { ...common, headers: { ...headers, ...metadata }, body: entry.message.data };
  }
  return { ...common, headers: { ...headers, 'content-type': 'application/json' }, body: wrapped(settings, entry) };
}

/** The JSON body: empty members are left out, the id and the time stand there under both of their names. */
function wrapped(settings: Settings, { message, failures }: Entry): string {
  const publishTime = timeText(message.publishTime);
  return JSON.stringify({
    message: {
      ...(Object.keys(message.attributes).length > 0 ? { attributes: message.attributes } : {}),
      ...(message.data.length > 0 ? { data: message.data.toString('base64') } : {}),
      messageId: message.id,
      message_id: message.id,
      ...(message.orderingKey === '' ? {} : { orderingKey: message.orderingKey }),
      publishTime,
      publish_time: publishTime,
    },
    subscription: settings.name,
    ...(settings.deadLetterPolicy ? { deliveryAttempt: failures + 1 } : {}),
  });
}

const LEGAL_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const LEGAL_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function metadataHeaders(settings: Settings, { message, failures }: Entry): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [key, value] of Object.entries(message.attributes)) {
    if (LEGAL_NAME.test(key) && LEGAL_VALUE.test(value)) headers[key.toLowerCase()] = value;
  }
  headers['x-goog-pubsub-subscription-name'] = settings.name;
  headers['x-goog-pubsub-message-id'] = message.id;
  headers['x-goog-pubsub-publish-time'] = timeText(message.publishTime);
  if (message.orderingKey !== '') headers['x-goog-pubsub-ordering-key'] = encodeURIComponent(message.orderingKey);
  if (settings.deadLetterPolicy) headers['x-goog-pubsub-delivery-attempt'] = String(failures + 1);
  return headers;
}
