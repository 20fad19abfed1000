import { PermanentError, toError } from './core/errors.ts';
import type { Delivery } from './core/event.ts';
import { End } from './end.ts';
import { answerFailure } from './http/answers.ts';
import type { Handler, HttpAnswer, HttpRequest } from './http/handler.ts';
import { pipelineOf } from './ingest.ts';
import type { Outcome, Pipeline } from './ingest/pipeline.ts';
import type { Log } from './log.ts';
import type { Store } from './ports.ts';
import type { Runtime } from './runtime.ts';
import { itemsOf, MAX_BODY, MAX_EVENTS, wholeBody, type Item } from './submit/body.ts';
import { callerOf, type Caller } from './submit/caller.ts';
import { inspect } from './submit/inspect.ts';
import { answerOutcomes, eventOutcome } from './submit/outcomes.ts';

export const uses = ['clock', 'store', 'bus', 'events'] as const;
export const rawBodies = true;

type Uses = (typeof uses)[number];

/** JSON, or no statement at all: Cloud Tasks says `application/octet-stream` where the creator of a task says nothing. */
const JSON_TYPE = /^(application\/(json|[\w.-]+\+json|octet-stream)|text\/(json|plain))?\s*(;|$)/i;

/**
 * Writes over HTTP. `POST` of an event or an array of events takes them the way that messages of Pub/Sub take; `GET`
 * tells the state of a key. Only callers that are no tasks are answered 4xx: Cloud Tasks would repeat, and then drop,
 * what can never succeed, so there it becomes a dead letter.
 */
export function create(runtime: Runtime<Uses>): Handler {
  const pipeline = pipelineOf(runtime);
  return async (request, log) => {
    const end = End.ofRequest(runtime.ports.clock, runtime.config);
    const caller = callerOf(request.headers);
    if (caller.task !== null) return submit(request, caller, pipeline, runtime, end, log);
    if (request.method === 'GET') return look(request.query ?? '', end.guard(runtime.ports).store, log);
    return refusal(request) ?? submit(request, caller, pipeline, runtime, end, log);
  };
}

async function look(query: string, store: Store, log: Log): Promise<HttpAnswer> {
  try {
    return await inspect(query, store);
  } catch (thrown) {
    const error = toError(thrown);
    log({ severity: 'WARNING', event: 'submit.not_inspected', error });
    return answerFailure(error);
  }
}

/** What is wrong with the request itself, before its body is read. */
function refusal({ method, headers, rawBody }: HttpRequest): HttpAnswer | null {
  const refuse = (status: number, message: string, more: Record<string, string> = {}): HttpAnswer => ({
    status,
    headers: more,
    body: { code: 'invalid_request', message },
  });
  if (method !== 'POST') return refuse(405, 'POST events, or GET ?unique_key=KEY', { allow: 'GET, POST' });
  if (!JSON_TYPE.test(headers['content-type'] ?? ''))
    return refuse(415, 'send JSON with content-type application/json');
  if ((rawBody?.length ?? 0) > MAX_BODY) return refuse(413, `the body is larger than ${MAX_BODY} bytes`);
  return null;
}

async function submit(
  request: HttpRequest,
  caller: Caller,
  pipeline: Pipeline,
  { config }: Runtime<Uses>,
  end: End,
  log: Log,
): Promise<HttpAnswer> {
  const body = wholeBody(request);
  let items: readonly Item[];
  let tooMany = false;
  try {
    items = itemsOf(body);
    tooMany = items.length > MAX_EVENTS;
    if (tooMany && caller.task === null) throw new PermanentError('too_large', MANY);
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    if (caller.task === null) return answerFailure(error);
    // The pipeline finds the same fault and keeps the body.
    items = [body];
  }
  const deliveries = items.map((item, index) => delivery(item, index, caller));
  const outcomes = await Promise.all(
    deliveries.map((one) =>
      tooMany ? pipeline.reject(one, { code: 'too_large', hint: MANY }, end, log) : pipeline.ingest(one, end, log),
    ),
  );
  reportUndecided(outcomes, caller, log);
  return answerOutcomes(deliveries.map((one, index) => eventOutcome(one, outcomes[index]!, config.eventFields)));
}

const MANY = `the array has more than ${MAX_EVENTS} events: send several requests`;

function delivery(item: Item, index: number, { task, origin }: Caller): Delivery {
  return {
    ...item,
    // What names an event that has no id of its own: a task keeps its name over all its attempts, and no other task of
    // its queue has it.
    messageId: task === null ? '' : `${task.queue}/${task.name}/${index}`,
    publishTime: null,
    deliveryAttempt: task?.attempt ?? null,
    origin,
    orderingKey: null,
  };
}

function reportUndecided(outcomes: readonly Outcome[], caller: Caller, log: Log): void {
  const undecided = outcomes.filter((outcome) => outcome.kind === 'retry');
  const [first] = undecided;
  if (first === undefined) return;
  log({
    severity: 'WARNING',
    event: 'submit.retry',
    origin: caller.origin,
    deliveryAttempt: caller.task?.attempt ?? null,
    events: outcomes.length,
    undecided: undecided.length,
    error: first.error,
  });
}
