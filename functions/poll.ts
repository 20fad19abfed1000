import { PermanentError, toError } from './core/errors.ts';
import { decodeWatch } from './core/watch/spec.ts';
import { End } from './end.ts';
import { answerFailure } from './http/answers.ts';
import type { Handler, HttpAnswer, HttpRequest } from './http/handler.ts';
import type { Log } from './log.ts';
import { describeWatch } from './poll/describe.ts';
import { CONFLICT, createFromPush, MAX_WATCH, TOO_LARGE } from './poll/push.ts';
import { readLook } from './poll/task.ts';
import { createWatcher, type Watcher } from './poll/watcher.ts';
import type { Runtime } from './runtime.ts';
import { callerOf } from './submit/caller.ts';

export const uses = ['clock', 'store', 'bus', 'tasks', 'probes'] as const;
export const rawBodies = true;

/** Attempts of one task before it is let go: the wake-up in the state goes on with less haste. */
const TASK_ATTEMPTS = 10;

/**
 * Eager polling. A task of Cloud Tasks looks at a watch; a push of the topic of watches, or `POST`, creates one;
 * `GET ?watch_id=` shows it and `DELETE ?watch_id=` cancels it. A task is answered 503 only while repeating may help.
 */
export function create({ ports, config }: Runtime<(typeof uses)[number]>): Handler {
  return async (request, log) => {
    const within = End.ofRequest(ports.clock, config).guard(ports);
    const watcher = createWatcher(within, config);
    const { task } = callerOf(request.headers);
    if (task !== null) return look(request, task.attempt, watcher, log);
    if (request.method === 'POST') {
      const body = parse(request);
      const isPush = typeof body === 'object' && body !== null && ('message' in body || 'data' in body);
      if (isPush) return createFromPush(body, watcher, within.bus, config, log);
      if ((request.rawBody?.length ?? 0) > MAX_WATCH) return refuse(413, 'too_large', TOO_LARGE);
      return post(body, watcher, log);
    }
    if (request.method !== 'GET' && request.method !== 'DELETE') {
      const more = { headers: { allow: 'GET, POST, DELETE' } };
      return { ...refuse(405, 'invalid_request', 'POST a watch, or GET or DELETE ?watch_id=ID'), ...more };
    }
    return one(request, watcher, log);
  };
}

async function look(request: HttpRequest, attempt: number, watcher: Watcher, log: Log): Promise<HttpAnswer> {
  const task = readLook(parse(request));
  if (task === null) {
    // Whatever it is, repeating it makes it no better.
    log({ severity: 'ERROR', event: 'poll.invalid_task', bytes: request.rawBody?.length ?? 0 });
    return { status: 200, body: { result: 'invalid' } };
  }
  try {
    return { status: 200, body: { result: await watcher.look(task, log) } };
  } catch (thrown) {
    const error = toError(thrown);
    const last = attempt >= TASK_ATTEMPTS;
    log({ severity: 'WARNING', event: last ? 'poll.left_to_sweep' : 'poll.retry', watch_id: task.watchId, attempt, error }); // prettier-ignore
    return last ? { status: 200, body: { result: 'left_to_sweep' } } : retry(error);
  }
}

async function post(body: unknown, watcher: Watcher, log: Log): Promise<HttpAnswer> {
  try {
    const { kind, state } = await watcher.create(decodeWatch(body), log);
    if (kind === 'conflict') return refuse(409, 'watch_conflict', CONFLICT);
    return { status: kind === 'created' ? 201 : 200, body: describeWatch(state) };
  } catch (thrown) {
    const error = toError(thrown);
    if (!(error instanceof PermanentError)) log({ severity: 'WARNING', event: 'poll.retry', error });
    return answerFailure(error);
  }
}

async function one(request: HttpRequest, watcher: Watcher, log: Log): Promise<HttpAnswer> {
  const id = new URLSearchParams(request.query ?? '').get('watch_id') ?? '';
  if (id === '') return refuse(400, 'invalid_request', 'say which watch: ?watch_id=ID');
  try {
    const state = request.method === 'GET' ? await watcher.read(id) : await watcher.cancel(id, log);
    return state === null ? refuse(404, 'not_found', 'there is no such watch') : { status: 200, body: describeWatch(state) }; // prettier-ignore
  } catch (error) {
    log({ severity: 'WARNING', event: 'poll.retry', watch_id: id, error: toError(error) });
    return retry(toError(error));
  }
}

/** A failure behind us is never the caller's: no 4xx. */
function retry(error: Error): HttpAnswer {
  return answerFailure(error instanceof PermanentError ? new Error(error.message) : error);
}

function parse({ rawBody }: HttpRequest): unknown {
  try {
    return JSON.parse(Buffer.from(rawBody ?? []).toString()) as unknown;
  } catch {
    return null;
  }
}

function refuse(status: number, code: string, message: string): HttpAnswer {
  return { status, body: { code, message } };
}
