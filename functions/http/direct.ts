import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Drain } from './drain.ts';
import { RETRY_LATER } from './answers.ts';
import type { HttpAnswer, HttpRequest } from './handler.ts';

/**
 * Requests straight from Node's server, past the middleware of the functions framework. The framework makes a domain for
 * each request, which turns on hooks that every promise of the process then pays for, offers the body to five parsers,
 * and answers some bodies by itself, unseen by the function. What is not taken here goes the framework's way.
 */

type Answer = (request: HttpRequest) => Promise<HttpAnswer>;

/** Bytes; Cloud Run takes no larger request. */
const MAX_BODY = 32 * 2 ** 20;
/**
 * Bytes of all bodies under way; more are answered 429. Each body costs several times its size until it is a row, so
 * without this a burst of large messages would end an instance of 512 MiB. One body alone is always taken.
 */
const MAX_HELD = 32 * 2 ** 20;
const START = 'http.server.request.start';

let held = 0;

/**
 * Answers the requests of the first server of this process that gets one. With `raw` no body is parsed, else those
 * that say they are JSON. A request is under way for `drain` until its answer is sent.
 */
export function takeRequests(answer: Answer, raw: boolean, drain: Drain): void {
  const onStart = (message: unknown): void => {
    unsubscribe(START, onStart);
    const { server } = message as { server: Server };
    const others = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
    server.removeAllListeners('request');
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      drain.track(new Promise((resolve) => response.once('close', resolve))).catch(() => undefined);
      if (raw || isPlainPost(request)) serve(answer, raw, request, response);
      else for (const listener of others) listener.call(server, request, response);
    });
  };
  subscribe(START, onStart);
}

/** Nobody sends anything else to the functions that parse; the framework knows what to do with it. */
function isPlainPost({ method, headers }: IncomingMessage): boolean {
  return method === 'POST' && headers['content-encoding'] === undefined;
}

function serve(answer: Answer, raw: boolean, request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let refusal: HttpAnswer | null = null;
  let reserved = 0;
  const reserve = (bytes: number): void => {
    held += bytes - reserved;
    reserved = bytes;
    if (bytes > MAX_BODY) refusal = { status: 413 };
    else if (held > MAX_HELD && held > bytes) refusal = { status: 429, headers: RETRY_LATER };
    if (refusal === null) return;
    chunks.length = 0;
    held -= reserved;
    reserved = 0;
  };
  response.once('close', () => (held -= reserved));
  reserve(Number(request.headers['content-length'] ?? 0));
  request.on('data', (chunk: Buffer) => {
    if (refusal !== null) return;
    size += chunk.length;
    chunks.push(chunk);
    if (size > reserved) reserve(size);
  });
  // A caller that goes away before the end of its body is owed no answer.
  request.on('error', () => undefined);
  request.on('end', () => {
    if (refusal !== null) {
      send(response, refusal);
      return;
    }
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    let incoming: HttpRequest;
    try {
      incoming = read(request, body, raw);
    } catch {
      send(response, { status: 400 });
      return;
    }
    answer(incoming).then(
      (given) => send(response, given),
      () => send(response, { status: 500 }),
    );
  });
}

/** @throws SyntaxError when what says that it is JSON is not */
function read({ method, url = '/', headers }: IncomingMessage, rawBody: Buffer, raw: boolean): HttpRequest {
  const [path = '/', ...rest] = url.split('?');
  const json = !raw && rawBody.length > 0 && /^application\/json\b/i.test(headers['content-type'] ?? '');
  return {
    method: method ?? '',
    path,
    // A question mark may stand in a query, too.
    query: rest.join('?'),
    headers: headers as HttpRequest['headers'],
    body: json ? (JSON.parse(rawBody.toString()) as unknown) : undefined,
    rawBody,
  };
}

function send(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  if (body === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8';
  response.writeHead(status, { 'content-type': type, ...headers, 'content-length': Buffer.byteLength(text) }).end(text);
}
