import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that arrived at the test endpoint. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** Answers it; one that is never answered stays open. */
  answer(status: number, body?: string): void;
}

/** An HTTP endpoint for tests. */
export interface Receiver {
  readonly url: string;
  /** Requests that arrived so far. */
  readonly count: number;
  /** The next request that nobody took yet; rejects after some seconds without one. */
  next(): Promise<Arrival>;
  stop(): Promise<void>;
}

const PATIENCE = 4000;

/** Starts an endpoint; with `reply` it answers every request itself and still lists it. */
export async function startReceiver(reply?: (arrival: Arrival) => void): Promise<Receiver> {
  const arrived: Arrival[] = [];
  const waiting: ((arrival: Arrival) => void)[] = [];
  let count = 0;
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      count++;
      const arrival: Arrival = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        answer(status, body = '') {
          response.statusCode = status;
          response.end(body);
        },
      };
      reply?.(arrival);
      const taker = waiting.shift();
      if (taker) taker(arrival);
      else arrived.push(arrival);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    get count() {
      return count;
    },
    async next() {
      const ready = arrived.shift();
      if (ready) return ready;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('no request arrived')), PATIENCE);
        waiting.push((arrival) => {
          clearTimeout(timer);
          resolve(arrival);
        });
      });
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
