import { PermanentError, TransientError } from '../core/errors.ts';
import type { HttpAnswer } from './handler.ts';

/** Acknowledges a push: Pub/Sub takes 204 as success. */
export const ACKNOWLEDGE: HttpAnswer = { status: 204 };

/** Seconds that a caller should wait before it tries again. Pub/Sub and task queues have backoffs of their own. */
export const RETRY_LATER = { 'retry-after': '5' } as const;

/**
 * The answer for a failure: 429 when this instance has too much to do, 503 when a repeat may help, 400 when the request
 * itself is broken. The body has the code; details are in the log.
 */
export function answerFailure(error: Error): HttpAnswer {
  if (error instanceof PermanentError) return { status: 400, body: { code: error.code, message: error.message } };
  const code = error instanceof TransientError ? error.code : 'retry';
  return {
    status: code === 'overloaded' ? 429 : 503,
    headers: RETRY_LATER,
    body: { code },
  };
}
