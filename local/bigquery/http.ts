import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { BigQueryError, invalid, toBigQueryError } from './errors.ts';

/** Largest request body, as of `tabledata.insertAll`. */
const MAX_BODY = 10 * 1024 * 1024;

export interface RestRequest {
  /** Decoded segments of the path that the route names. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Record<string, unknown>;
  readonly headers: IncomingMessage['headers'];
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** `/projects/:project/datasets/:dataset`. */
  readonly path: string;
  /** The answer's body; nothing for 204. */
  readonly handle: (request: RestRequest) => Promise<object | undefined>;
}

/** Starts a JSON-over-HTTP server on the loopback interface. */
export async function listenHttp(routes: readonly Route[], port: number): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    answer(routes, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  // Clients keep connections for long; closing one as it is used again would look like a failure of the service.
  server.keepAliveTimeout = 120_000;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

async function answer(routes: readonly Route[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    // The client leaves the prefix out when it is pointed here by an environment variable.
    const url = new URL(request.url ?? '/', 'http://localhost');
    const path = url.pathname.replace(/^\/bigquery\/v2(?=\/)/, '').replace(/\/$/, '');
    const body = await readBody(request);
    const found = match(routes, request.method ?? 'GET', path);
    if (!found) throw new BigQueryError('notFound', `Not found: ${request.method} ${path} is no method of this server`);
    const result = await found.route.handle({
      params: found.params,
      query: url.searchParams,
      body: parse(body),
      headers: request.headers,
    });
    send(response, result === undefined ? 204 : 200, result);
  } catch (error) {
    const known = toBigQueryError(error);
    send(response, known.httpStatus, known.toBody());
  }
}

function send(response: ServerResponse, status: number, body: object | undefined): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  }
  if (size > MAX_BODY) {
    throw new BigQueryError('requestTooLarge', `Request payload size exceeds the limit: ${MAX_BODY} bytes.`);
  }
  const body = Buffer.concat(chunks);
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(body, { maxOutputLength: MAX_BODY }) : body;
}

function parse(body: Buffer): Record<string, unknown> {
  if (body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Falls through to the refusal.
  }
  throw new BigQueryError('invalid', 'Invalid JSON payload received.');
}

function match(
  routes: readonly Route[],
  method: string,
  path: string,
): { route: Route; params: Record<string, string> } | undefined {
  const segments = path.split('/');
  for (const route of routes) {
    const names = route.path.split('/');
    if (route.method !== method || names.length !== segments.length) continue;
    if (!names.every((name, index) => name.startsWith(':') || name === segments[index])) continue;
    const pairs = names.flatMap((name, index) =>
      name.startsWith(':') ? [[name.slice(1), decode(segments[index]!)]] : [],
    );
    return { route, params: Object.fromEntries(pairs) as Record<string, string> };
  }
  return undefined;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid('Malformed path');
  }
}

/** A count in the query or body; `undefined` when absent. */
export function count(value: unknown, name: string): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 0)
    throw invalid(`Invalid value for ${name}: ${JSON.stringify(value)}`, name);
  return number;
}
