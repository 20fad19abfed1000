import type { CloudProcess } from './cloud-process.ts';
import type { EventSource } from './events.ts';
import { load } from './load.ts';
import { ROOT, Subject } from './subject.ts';

export interface Backpressure {
  /** Milliseconds of the slowest answer, while every call of BigQuery and Firestore hangs. */
  readonly slowest: number;
  /** Answers by status; `error` where there was none. */
  readonly answers: Readonly<Record<string, number>>;
  readonly peakMiB: number;
}

/** Longer than the deadline of a call, 10 s. */
const SLOW_MS = 12_000;
const REQUESTS = 2000;
const IN_FLIGHT = 1000;

/** More requests than an instance gets, of which none can be stored in time. */
export async function backpressure(
  cloud: CloudProcess,
  source: EventSource,
  settings: Readonly<Record<string, string>>,
): Promise<Backpressure> {
  const ingest = await Subject.start({ target: 'ingest', source: ROOT, env: { ...cloud.env, ...settings } });
  try {
    await load({ url: ingest.url, inFlight: 10, count: 200, body: (n) => source.push(n, 'before') });
    await cloud.counts(SLOW_MS);
    const { failures, slowest } = await load({
      url: ingest.url,
      inFlight: IN_FLIGHT,
      count: REQUESTS,
      body: (n) => source.push(n, 'slow'),
    });
    const refused = Object.values(failures).reduce((sum, n) => sum + n, 0);
    return {
      slowest,
      answers: { ...failures, stored: REQUESTS - refused },
      peakMiB: (await ingest.usage()).peak / 2 ** 20,
    };
  } finally {
    await cloud.counts(0);
    await ingest.stop('SIGKILL');
  }
}
