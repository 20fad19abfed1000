import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import type { Addresses } from '../../local/clients.ts';
import { forward } from '../identities/recorder.ts';

export interface Call {
  /** `firestore.googleapis.com`. */
  readonly host: string;
  readonly method: string;
  /** The value of `Authorization`, null when there is none. */
  readonly authorization: string | null;
  /** Whether it says what it acts on, so that Google can route it; always for REST, where the URL says it. */
  readonly routed: boolean;
}

/** Google's endpoints behind one port: TLS to here, then the local servers. Whoever has no known token is refused. */
export class Google {
  readonly calls: Call[] = [];
  readonly #knows: (token: string) => boolean;
  readonly #upstream: Readonly<Record<string, string>>;
  readonly #sessions = new Map<string, http2.ClientHttp2Session>();
  readonly #sockets = new Set<tls.TLSSocket>();
  readonly #server: tls.Server;

  private constructor(certificate: tls.SecureContextOptions, servers: Addresses, knows: (token: string) => boolean) {
    this.#knows = knows;
    this.#upstream = {
      'firestore.googleapis.com': `http://${servers.FIRESTORE_EMULATOR_HOST}`,
      'pubsub.googleapis.com': `http://${servers.PUBSUB_EMULATOR_HOST}`,
      'bigquerystorage.googleapis.com': `http://${servers.BIGQUERY_STORAGE_EMULATOR_HOST}`,
      'cloudtasks.googleapis.com': `http://${servers.CLOUD_TASKS_EMULATOR_HOST}`,
      'bigquery.googleapis.com': servers.BIGQUERY_EMULATOR_HOST,
    };
    const rest = http.createServer((request, response) => this.#rest(request, response));
    const grpc = http2.createServer().on('stream', (stream, headers) => this.#grpc(stream, headers));
    this.#server = tls.createServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      (socket.alpnProtocol === 'h2' ? grpc : rest).emit('connection', socket);
    });
  }

  /** @param knows whether a token is one that was given */
  static async start(
    certificate: tls.SecureContextOptions,
    servers: Addresses,
    knows: (token: string) => boolean,
  ): Promise<Google> {
    const google = new Google(certificate, servers, knows);
    google.#server.listen(0, '127.0.0.1');
    await once(google.#server, 'listening');
    return google;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const session of this.#sessions.values()) session.destroy();
  }

  /** Notes a call. Where it goes on to, null when it is refused. */
  #take(call: Call): string | null {
    this.calls.push(call);
    const [, token] = /^Bearer (\S+)$/.exec(call.authorization ?? '') ?? [];
    return token !== undefined && this.#knows(token) ? (this.#upstream[call.host] ?? null) : null;
  }

  #grpc(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders): void {
    const address = this.#take({
      host: headers[':authority']!.split(':')[0]!,
      method: headers[':path']!.split('/').at(-1)!,
      authorization: headers.authorization ?? null,
      routed: Boolean(headers['x-goog-request-params'] ?? headers['google-cloud-resource-prefix']),
    });
    if (address === null) {
      stream.respond({ 'content-type': 'application/grpc', 'grpc-status': '16' }, { endStream: true });
      return;
    }
    let session = this.#sessions.get(address);
    if (session === undefined) {
      session = http2.connect(address).on('error', () => undefined);
      this.#sessions.set(address, session);
    }
    forward(stream, session.request(headers));
  }

  #rest(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { method = '', url = '', headers } = request;
    const authorization = headers.authorization ?? null;
    const address = this.#take({ host: headers.host!.split(':')[0]!, method, authorization, routed: true });
    if (address === null) {
      response.writeHead(401).end();
      return;
    }
    const sent = http.request(`${address}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    sent.on('error', () => response.destroy());
    request.pipe(sent);
  }
}
