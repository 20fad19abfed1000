import http from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Addresses } from '../../local/clients.ts';
import { restCalls } from './rest.ts';

/**
 * Who calls what. Every function process is given addresses of its own, and only it knows them: what arrives there was
 * called by that function. A request is noted and passed on to the server; nothing is taken from what the caller says
 * about itself.
 */
export class Recorder {
  readonly #calls = new Map<string, Set<string>>();
  readonly #closing: (() => void)[] = [];

  /** Calls of each function so far: API and method, then what it acted on; sorted, each once. */
  calls(): Record<string, string[]> {
    const sorted = [...this.#calls].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([name, calls]) => [name, [...calls].sort()]));
  }

  /** Addresses for a function in place of those of the servers. */
  async reach(name: string, servers: Addresses): Promise<Addresses> {
    const calls = new Set<string>();
    this.#calls.set(name, calls);
    const grpc = await this.#grpc(servers, (call) => calls.add(call));
    const rest = await this.#rest(servers.BIGQUERY_EMULATOR_HOST, (call) => calls.add(call));
    return {
      PUBSUB_EMULATOR_HOST: grpc,
      FIRESTORE_EMULATOR_HOST: grpc,
      BIGQUERY_STORAGE_EMULATOR_HOST: grpc,
      CLOUD_TASKS_EMULATOR_HOST: grpc,
      BIGQUERY_EMULATOR_HOST: `http://${rest}`,
    };
  }

  close(): void {
    for (const close of this.#closing) close();
  }

  async #grpc(servers: Addresses, note: (call: string) => void): Promise<string> {
    const upstream: Readonly<Record<string, readonly [string, string | undefined]>> = {
      'google.pubsub.v1.Publisher': ['pubsub', servers.PUBSUB_EMULATOR_HOST],
      'google.firestore.v1.Firestore': ['firestore', servers.FIRESTORE_EMULATOR_HOST],
      'google.cloud.bigquery.storage.v1.BigQueryWrite': ['bigquerystorage', servers.BIGQUERY_STORAGE_EMULATOR_HOST],
      'google.cloud.tasks.v2.CloudTasks': ['cloudtasks', servers.CLOUD_TASKS_EMULATOR_HOST],
    };
    const sessions = new Map<string, http2.ClientHttp2Session>();
    const session = (address: string): http2.ClientHttp2Session => {
      let open = sessions.get(address);
      if (open === undefined || open.closed || open.destroyed) {
        open = http2.connect(`http://${address}`);
        open.on('error', () => undefined);
        sessions.set(address, open);
      }
      return open;
    };
    const server = http2.createServer();
    server.on('stream', (stream, headers) => {
      const [, service = '', method = ''] = String(headers[':path']).split('/');
      const [api, address] = upstream[service] ?? [];
      // An API that nobody here knows is a finding, too.
      note(`${api ?? service}.${method} ${place(headers)}`);
      if (address === undefined) stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
      else forward(stream, session(address).request(headers));
    });
    return this.#listen(server, () => {
      for (const open of sessions.values()) open.destroy();
    });
  }

  async #rest(server: string, note: (call: string) => void): Promise<string> {
    const { hostname, port } = new URL(server);
    const own = new Set<string>();
    const proxy = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        const { method = '', url: path = '', headers } = request;
        for (const call of restCalls({ method, path, headers, body }, own)) note(call);
        const sent = http.request({ hostname, port, method, path, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        });
        sent.on('error', () => response.destroy());
        sent.end(body);
      });
    });
    return this.#listen(proxy, () => proxy.closeAllConnections());
  }

  async #listen(server: http.Server | http2.Http2Server, end: () => void): Promise<string> {
    const sockets = new Set<{ destroy(): void }>();
    server.on('connection', (socket: NodeJS.Socket & { destroy(): void }) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#closing.push(() => {
      server.close();
      end();
      for (const socket of sockets) socket.destroy();
    });
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
}

/** What a call acts on, from the header by which Google routes it. */
function place(headers: http2.IncomingHttpHeaders): string {
  const routed = decodeURIComponent(
    String(headers['x-goog-request-params'] ?? headers['google-cloud-resource-prefix']),
  );
  const [, kind, name] = /.*\/(topic|queue|table|database)s\/([^/&]+)/.exec(routed) ?? [];
  if (kind === undefined) return routed;
  return kind === 'database' ? 'database' : `${kind} ${name!.replace(/^codaflow-/, '')}`;
}

/** Passes a stream on, with what ends it on either side. */
export function forward(stream: http2.ServerHttp2Stream, onward: http2.ClientHttp2Stream): void {
  let trailers: http2.IncomingHttpHeaders = {};
  onward.on('response', (headers, flags) => {
    if (stream.closed) return;
    const endStream = (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond(headers, { endStream, waitForTrailers: !endStream });
    if (!endStream) onward.pipe(stream);
  });
  onward.on('trailers', (received: http2.IncomingHttpHeaders) => {
    trailers = received;
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.pipe(onward);
  stream.on('close', () => onward.close(http2.constants.NGHTTP2_CANCEL));
  onward.on('error', () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
  stream.on('error', () => onward.destroy());
}
