import { deadLetter, type Rejection } from '../core/dead-letter.ts';
import { CodaflowError, PermanentError, toError } from '../core/errors.ts';
import type { Delivery } from '../core/event.ts';
import { decodeWatch, type WatchSpec } from '../core/watch/spec.ts';
import type { Config } from '../config.ts';
import { ACKNOWLEDGE, answerFailure } from '../http/answers.ts';
import type { HttpAnswer } from '../http/handler.ts';
import { readPush } from '../http/push.ts';
import type { Log } from '../log.ts';
import type { Ports } from '../ports.ts';
import type { Watcher } from './watcher.ts';

/** Bytes of a watch; its state fits into a document of Firestore. */
export const MAX_WATCH = 256 * 1024;
export const TOO_LARGE = `a watch has at most ${MAX_WATCH} bytes`;

type Settings = Pick<Config, 'eventFields' | 'maxAttempts'>;

/** A message of the topic of watches: creates the watch. What can never succeed becomes a dead letter. */
export async function createFromPush(
  body: unknown,
  watcher: Watcher,
  bus: Ports['bus'],
  settings: Settings,
  log: Log,
): Promise<HttpAnswer> {
  let delivery: Delivery;
  try {
    delivery = readPush(body);
  } catch (error) {
    log({ severity: 'ERROR', event: 'poll.invalid_push', error: toError(error) });
    return answerFailure(toError(error));
  }
  try {
    const { kind } = await watcher.create(readSpec(delivery.data), log);
    if (kind !== 'conflict') return ACKNOWLEDGE;
    return await reject(delivery, { code: 'watch_conflict', hint: CONFLICT }, bus, settings, log);
  } catch (thrown) {
    const error = toError(thrown);
    const { message } = error;
    if (error instanceof PermanentError)
      return reject(delivery, { code: error.code, hint: message }, bus, settings, log);
    if ((delivery.deliveryAttempt ?? 0) >= settings.maxAttempts) {
      const cause = error instanceof CodaflowError ? error.code : 'unavailable';
      return reject(delivery, { code: 'delivery_attempts_exhausted', hint: message, cause }, bus, settings, log);
    }
    log({ severity: 'WARNING', event: 'poll.retry', messageId: delivery.messageId, error });
    return answerFailure(error);
  }
}

export const CONFLICT = 'there is a watch with this watch_id and other content';

function readSpec(data: Uint8Array): WatchSpec {
  if (data.length > MAX_WATCH) throw new PermanentError('too_large', TOO_LARGE);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
  } catch (error) {
    // The parser's own words quote the text, which may hold a secret.
    throw new PermanentError('invalid_json', 'the watch is not JSON in UTF-8', error);
  }
  return decodeWatch(value);
}

async function reject(
  delivery: Delivery,
  rejection: Rejection,
  bus: Ports['bus'],
  settings: Settings,
  log: Log,
): Promise<HttpAnswer> {
  try {
    // A watch has the members' own names, whatever events call them.
    const letter = deadLetter(delivery, rejection, { ...settings.eventFields, unique_key: 'unique_key' });
    const [published] = await bus.publish('deadLetters', [letter]);
    if (published instanceof Error) throw published;
  } catch (error) {
    log({ severity: 'ERROR', event: 'poll.not_dead_lettered', messageId: delivery.messageId, error: toError(error) });
    // Even where Pub/Sub refuses the letter for good: the message must not be lost.
    return answerFailure(new Error('not dead-lettered', { cause: error }));
  }
  log({ severity: 'ERROR', event: 'poll.dead_letter', messageId: delivery.messageId, code: rejection.code, message: rejection.hint }); // prettier-ignore
  return ACKNOWLEDGE;
}
