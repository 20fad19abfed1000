import { PermanentError } from '../core/errors.ts';
import { notJsonHint } from '../core/decode/hint.ts';
import { messageText } from '../core/decode/text.ts';
import { JsonError, scanArray, scanObject } from '../core/json.ts';
import type { HttpRequest } from '../http/handler.ts';

/** Most events in one request. */
export const MAX_EVENTS = 500;
/** Most elements that become dead letters of their own; a longer array is kept whole. */
export const MAX_LETTERS = 10_000;
/** Bytes of a body, as sent; its dead letter always fits into a Pub/Sub message. A task holds at most 1 MB. */
export const MAX_BODY = 8_000_000;

/** Data and attributes, as a message would have them. */
export interface Item {
  readonly data: Uint8Array;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The whole body as one item. */
export function wholeBody(request: Pick<HttpRequest, 'rawBody' | 'headers'>): Item {
  const encoding = request.headers['content-encoding'];
  return {
    data: request.rawBody ?? new Uint8Array(),
    attributes: encoding === undefined ? {} : { 'content-encoding': encoding },
  };
}

/**
 * The events of a body: the one object that it is, or each element of the array, by its source text.
 *
 * @throws PermanentError when the body is neither
 */
export function itemsOf(body: Item): readonly Item[] {
  if (body.data.length === 0) {
    throw new PermanentError('empty_data', 'the body is empty: send an event or an array of events as JSON');
  }
  const text = messageText(body.data, body.attributes);
  try {
    const elements = scanArray(text, MAX_LETTERS + 1);
    if (typeof elements !== 'string') {
      if (elements.length > MAX_LETTERS) {
        throw new PermanentError('too_large', `the array has more than ${MAX_LETTERS} elements`);
      }
      return elements.map(({ source }) => ({ data: Buffer.from(source), attributes: {} }));
    }
    if (elements === 'object') {
      scanObject(text);
      return [body];
    }
    throw new PermanentError('not_an_object', `the body is a JSON ${elements}: send an event or an array of events`);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    if (error.reason === 'depth') throw new PermanentError('too_deep', `the body is ${error.message}`, error);
    throw new PermanentError('invalid_json', notJsonHint(text, error.message).replace('the data', 'the body'), error);
  }
}
