import type { Delivery } from '../core/event.ts';
import { PermanentError } from '../core/errors.ts';
import { parseRfc3339 } from '../core/time.ts';

type Json = Readonly<Record<string, unknown>>;

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * The message in the body of a push request. Three wrappings of the same message are taken: Pub/Sub's own
 * (`{message, subscription, deliveryAttempt}`), a CloudEvent (`{data: {message, subscription}}`) and the event of a
 * first-generation function (`{data: {data, attributes}, context}`). No data at all is empty data, not an error here.
 *
 * @throws PermanentError invalid_push
 */
export function readPush(body: unknown): Delivery {
  const outer = object(body, 'the body');
  const wrapped = 'message' in outer ? outer : object(outer['data'], 'data');
  const legacy = !('message' in wrapped);
  const message = legacy ? wrapped : object(wrapped['message'], 'message');
  if (legacy && !('data' in message || 'attributes' in message)) throw invalid('there is no message in the body');
  const context = isObject(outer['context']) ? outer['context'] : {};
  return {
    data: data(message['data']),
    attributes: attributes(message['attributes']),
    messageId: text(message['messageId'] ?? message['message_id'] ?? context['eventId']) ?? '',
    publishTime: time(message['publishTime'] ?? message['publish_time'] ?? context['timestamp']),
    deliveryAttempt: attempt(wrapped['deliveryAttempt'] ?? wrapped['delivery_attempt']),
    origin: text(wrapped['subscription']) ?? 'push',
    orderingKey: text(message['orderingKey'] ?? message['ordering_key']) ?? null,
  };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function object(value: unknown, name: string): Json {
  if (!isObject(value)) throw invalid(`${name} is not an object`);
  return value;
}

function data(value: unknown): Uint8Array {
  if (value === undefined || value === null) return new Uint8Array();
  if (typeof value !== 'string' || !BASE64.test(value)) throw invalid('the data of the message is not base64');
  return Buffer.from(value, 'base64');
}

function attributes(value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {};
  const entries = Object.entries(object(value, 'attributes'));
  for (const [name, one] of entries) {
    if (typeof one !== 'string') throw invalid(`the attribute ${JSON.stringify(name.slice(0, 100))} is not a string`);
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Only for the columns; a missing or odd one is no reason to refuse a message. */
function time(value: unknown): number | null {
  return typeof value === 'string' ? (parseRfc3339(value)?.micros ?? null) : null;
}

function attempt(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}

function invalid(message: string): PermanentError {
  return new PermanentError('invalid_push', message);
}
