import { startCloud } from '../../local/cloud.ts';
import { DATASET } from '../../local/resources.ts';

export interface Readable {
  readonly keys: number;
  /** Milliseconds from the publishing of a completion event to a query that finds its summary. */
  readonly p50: number;
  readonly p99: number;
}

const PAUSE_MS = 20;
const WAIT_MS = 60_000;

/** Keys of three events each through the whole local cloud, a few at a time. */
export async function readable(keys: number): Promise<Readable> {
  const cloud = await startCloud();
  try {
    const events = cloud.clients.pubsub.topic('events', { batching: { maxMilliseconds: 1 } });
    const publish = (key: string, n: number, event_status: string) =>
      events.publishMessage({
        json: { unique_key: key, event_id: `${key}-${n}`, event_status, timestamp: new Date().toISOString() },
      });
    const summaries = async (): Promise<ReadonlySet<string>> => {
      const [rows] = await cloud.clients.bigquery.query(`SELECT DISTINCT unique_key FROM \`${DATASET}.summaries\``);
      return new Set((rows as { unique_key: string }[]).map(({ unique_key: key }) => key));
    };
    const times: number[] = [];
    for (let n = -5; n < keys; n++) {
      const key = `readable/${n}`;
      await Promise.all([publish(key, 0, 'created'), publish(key, 1, 'paid')]);
      const start = performance.now();
      await publish(key, 2, 'completed');
      while (!(await summaries()).has(key)) {
        if (performance.now() - start > WAIT_MS) throw new Error(`no summary of ${key}`);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
      // The first few find functions that have just started.
      if (n >= 0) times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    const at = (q: number): number => times[Math.min(times.length - 1, Math.floor(times.length * q))]!;
    return { keys, p50: at(0.5), p99: at(0.99) };
  } finally {
    await cloud.stop();
  }
}
