import { PermanentError } from './core/errors.ts';
import type { Delivery } from './core/event.ts';
import { End } from './end.ts';
import { ACKNOWLEDGE, answerFailure } from './http/answers.ts';
import type { Handler } from './http/handler.ts';
import { readPush } from './http/push.ts';
import { completionKey } from './keys/completion.ts';
import { createFinisher } from './keys/finish.ts';
import { withFields } from './log.ts';
import type { Runtime } from './runtime.ts';

export const uses = ['clock', 'store', 'bus', 'summaries'] as const;

/**
 * Push subscription on the topic of completions: writes the summary of the key that the message names. Everything but a
 * passing failure is acknowledged, because the key's state holds the wake-up; the message is only a hint.
 */
export function create({ ports, config }: Runtime<(typeof uses)[number]>): Handler {
  const finisher = createFinisher(ports, config);
  return async (request, log) => {
    const end = End.ofRequest(ports.clock, config);
    let delivery: Delivery;
    try {
      delivery = readPush(request.body);
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
      log({ severity: 'ERROR', event: 'finish.invalid_push', code: error.code, message: error.message });
      return answerFailure(error);
    }
    const key = completionKey(delivery.data);
    if (key === null) {
      log({ severity: 'ERROR', event: 'finish.invalid_hint', messageId: delivery.messageId });
      return ACKNOWLEDGE;
    }
    const finished = await finisher.finish(key, end, withFields(log, { messageId: delivery.messageId }));
    if (finished.kind !== 'failed') return ACKNOWLEDGE;
    log({ severity: 'WARNING', event: 'finish.retry', unique_key: key, error: finished.error });
    return answerFailure(finished.error instanceof PermanentError ? new Error(finished.error.message) : finished.error);
  };
}
