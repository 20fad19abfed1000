import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PROJECT } from '../../local/resources.ts';

const ROOT = '/computeMetadata/v1';
const ACCOUNT = `${ROOT}/instance/service-accounts/default`;

/** Tokens that are about to expire when they are given: the first of each client. */
const EXPIRING = 3;

/** The metadata server of one instance. Each token that it gives is another. */
export class Metadata {
  readonly #server: Server;
  /** Tokens given so far. */
  readonly tokens: string[] = [];

  private constructor(name: string) {
    const answers: Readonly<Record<string, () => string | object>> = {
      [`${ROOT}/instance`]: () => ({}),
      [`${ROOT}/project/project-id`]: () => PROJECT,
      [`${ROOT}/universe/universe-domain`]: () => 'googleapis.com',
      [`${ACCOUNT}/email`]: () => `${name}@${PROJECT}.iam.gserviceaccount.com`,
      [`${ACCOUNT}/token`]: () => {
        const token = `token-${this.tokens.length + 1}-of-${name}`;
        const expires = this.tokens.length < EXPIRING ? 60 : 3599;
        this.tokens.push(token);
        return { access_token: token, expires_in: expires, token_type: 'Bearer' };
      },
    };
    this.#server = createServer((request, response) => {
      const answer = answers[request.url!.split('?')[0]!];
      if (request.headers['metadata-flavor'] !== 'Google') response.writeHead(403).end();
      else if (answer === undefined) response.writeHead(404, { 'metadata-flavor': 'Google' }).end();
      else {
        const value = answer();
        const [type, body] = typeof value === 'string' ? ['text', value] : ['json', JSON.stringify(value)];
        const headers = { 'metadata-flavor': 'Google', 'content-type': `application/${type}` };
        response.writeHead(200, headers).end(body);
      }
    });
  }

  static async start(name: string): Promise<Metadata> {
    const metadata = new Metadata(name);
    metadata.#server.listen(0, '127.0.0.1');
    await once(metadata.#server, 'listening');
    return metadata;
  }

  /** For the variable GCE_METADATA_HOST. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
