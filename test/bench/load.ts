import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface Loaded {
  readonly requests: number;
  /** Requests that were not acknowledged, by status; `error` for a broken connection. */
  readonly failures: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Milliseconds from sending to the answer. */
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
}

export interface LoadOptions {
  readonly url: string;
  readonly inFlight: number;
  readonly count: number;
  readonly body: (n: number) => string;
  /** Acknowledged requests only count as such when it is absent or says so. */
  readonly onFailure?: (n: number, status: number) => void;
}

const MANY = 100_000;

/** Sends `count` requests with always so many in flight, as push does, and waits for every answer. */
export async function load({ url, inFlight, count, body, onFailure }: LoadOptions): Promise<Loaded> {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  // Made beforehand, so that making them takes no time from the function; of a long run they would fill the memory.
  const bodies = count <= MANY ? Array.from({ length: count }, (_, n) => Buffer.from(body(n))) : null;
  const times = new Float64Array(count);
  const failures: Record<string, number> = {};
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const n = next++;
      const start = performance.now();
      const status = await post(agent, url, bodies?.[n] ?? Buffer.from(body(n)));
      times[n] = performance.now() - start;
      if (status >= 200 && status < 300) continue;
      const name = status === 0 ? 'error' : String(status);
      failures[name] = (failures[name] ?? 0) + 1;
      onFailure?.(n, status);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, lane));
  const seconds = (performance.now() - start) / 1000;
  agent.destroy();
  times.sort();
  return {
    requests: count,
    failures,
    seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    slowest: quantile(times, 1),
  };
}

function quantile(sorted: Float64Array, q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
}

/** The status of the answer; 0 when there is none. */
async function post(agent: Agent, url: string, body: Buffer): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
    buffer(response).then(
      () => resolve(response.statusCode ?? 0),
      () => resolve(0),
    );
  });
  outgoing.on('error', () => resolve(0));
  outgoing.end(body);
  return promise;
}
