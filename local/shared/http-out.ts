import http from 'node:http';
import https from 'node:https';
import type { Time } from './time.ts';

/** One request that a local server sends. */
export interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body: Buffer | string | undefined;
  /** Milliseconds until the answer must be complete. */
  readonly deadline: number;
}

/** What came of it: an answer, or `status` 0 and the reason why there is none. */
export interface Outcome {
  readonly status: number;
  readonly body: string;
  readonly error?: string;
}

/** Bytes of an answer's body that are kept; the rest is read and dropped. */
const KEPT = 64 * 1024;

/** Sends requests over kept connections; never throws. */
export class HttpSender {
  readonly #time: Time;
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true }),
    'https:': new https.Agent({ keepAlive: true }),
  };
  constructor(time: Time) {
    this.#time = time;
  }

  async send(request: OutgoingRequest): Promise<Outcome> {
    const outcome = await this.#once(request);
    // The other end closed a kept connection at the moment it was used again: nothing was answered, send anew.
    return outcome === 'stale' ? settled(await this.#once(request)) : outcome;
  }

  /** Ends every kept connection. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  #once({ url, method, headers, body, deadline }: OutgoingRequest): Promise<Outcome | 'stale'> {
    return new Promise((resolve) => {
      const protocol = url.startsWith('https:') ? 'https:' : 'http:';
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      let request: http.ClientRequest;
      try {
        request = (protocol === 'https:' ? https : http).request(url, {
          method,
          agent: this.#agents[protocol],
          headers: { ...headers, ...length },
        });
      } catch (error) {
        resolve(failed(error));
        return;
      }
      const cancel = this.#time.setTimeout(() => request.destroy(new Error('deadline exceeded')), deadline);
      const done = (outcome: Outcome | 'stale') => {
        cancel();
        resolve(outcome);
      };
      request.on('information', ({ statusCode }) => {
        if (statusCode === 102) done({ status: 102, body: '' });
      });
      request.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          if (text.length < KEPT) text += chunk;
        });
        response.on('end', () => done({ status: response.statusCode ?? 0, body: text.slice(0, KEPT) }));
        response.on('error', (error) => done(failed(error)));
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        done(request.reusedSocket && error.code === 'ECONNRESET' ? 'stale' : failed(error));
      });
      request.end(body);
    });
  }
}

const failed = (error: unknown): Outcome => ({
  status: 0,
  body: '',
  error: error instanceof Error ? error.message : String(error),
});

const settled = (outcome: Outcome | 'stale'): Outcome =>
  outcome === 'stale' ? { status: 0, body: '', error: 'connection reset' } : outcome;
