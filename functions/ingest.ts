import { PermanentError } from './core/errors.ts';
import type { Delivery, Event } from './core/event.ts';
import { End } from './end.ts';
import { ACKNOWLEDGE, answerFailure } from './http/answers.ts';
import type { Handler } from './http/handler.ts';
import { readPush } from './http/push.ts';
import { createPipeline, type Pipeline } from './ingest/pipeline.ts';
import { completionMessage, createRecorder } from './keys/record.ts';
import type { Log } from './log.ts';
import type { Runtime } from './runtime.ts';

export const uses = ['clock', 'store', 'bus', 'events'] as const;
type Uses = (typeof uses)[number];

/** The pipeline over the state of the keys. */
export function pipelineOf({ ports, config, log }: Runtime<Uses>): Pipeline {
  const recorder = createRecorder(ports, config);
  const recording = { record: (events: readonly Event[], end: End) => recorder.record(events, end), message: completionMessage }; // prettier-ignore
  return createPipeline(config, ports, recording, log);
}

/** Push subscription on the topic of events. */
export function create(runtime: Runtime<Uses>): Handler {
  const pipeline = pipelineOf(runtime);
  return async (request, log) => {
    const end = End.ofRequest(runtime.ports.clock, runtime.config);
    let delivery: Delivery;
    try {
      delivery = readPush(request.body);
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
      // Not a message of Pub/Sub, so there is nothing to keep; whoever calls us hears why.
      log({ severity: 'ERROR', event: 'ingest.invalid_push', code: error.code, message: error.message });
      return answerFailure(error);
    }
    return answer(delivery, pipeline, end, log);
  };
}

async function answer(delivery: Delivery, pipeline: Pipeline, end: End, log: Log) {
  const outcome = await pipeline.ingest(delivery, end, log);
  if (outcome.kind !== 'retry') return ACKNOWLEDGE;
  log({
    severity: 'WARNING',
    event: 'ingest.retry',
    messageId: delivery.messageId,
    deliveryAttempt: delivery.deliveryAttempt,
    error: outcome.error,
  });
  // A failure of ours, whatever its kind: the message is not acknowledged.
  return answerFailure(outcome.error instanceof PermanentError ? new Error(outcome.error.message) : outcome.error);
}
