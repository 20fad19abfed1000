import { connect } from '../../local/clients.ts';
import { DATASET } from '../../local/resources.ts';
import type { CloudProcess } from './cloud-process.ts';
import { difference } from './cloud-process.ts';
import { wrap } from './events.ts';
import { load } from './load.ts';
import { ROOT, Subject } from './subject.ts';

export interface LongKey {
  readonly events: number;
  /** CPU of an event in the last tenth of the key, times that in the first tenth past the inline ids. */
  readonly growth: number;
  /** Reads and writes of an event in the last tenth. */
  readonly reads: number;
  readonly writes: number;
  /** Bytes of the key's document in the end. */
  readonly document: number;
  /** Steps that the summary counts; right when it is all events and the one that completes. */
  readonly totalSteps: number;
  readonly failures: number;
}

const KEY = 'long/key';
const IN_FLIGHT = 200;

/** One key with so many events, one after the other through `ingest`, then its summary through `finish`. */
export async function longKey(
  cloud: CloudProcess,
  events: number,
  settings: Readonly<Record<string, string>>,
): Promise<LongKey> {
  const start = Date.now() - events;
  const push = (n: number, status: string): string => {
    const event = {
      unique_key: KEY,
      event_id: `long-${n}`,
      event_status: status,
      timestamp: start + n,
      payload: 'x'.repeat(900),
    };
    return wrap(Buffer.from(JSON.stringify(event)), `long-${n}`);
  };
  const env = { ...cloud.env, ...settings };
  const ingest = await Subject.start({ target: 'ingest', source: ROOT, env });
  const tenths: { cpu: number; reads: number; writes: number }[] = [];
  let failures = 0;
  try {
    const tenth = Math.ceil(events / 10);
    for (let from = 0; from < events; from += tenth) {
      const count = Math.min(tenth, events - from);
      const [before, counts] = [await ingest.usage(), await cloud.counts()];
      const loaded = await load({
        url: ingest.url,
        inFlight: IN_FLIGHT,
        count,
        body: (n) => push(from + n, 'departed'),
      });
      failures += Object.values(loaded.failures).reduce((sum, n) => sum + n, 0);
      const used = (await ingest.usage()).cpuMicros - before.cpuMicros;
      const done = difference(counts, await cloud.counts());
      const per = (name: string): number => (done[name] ?? 0) / count;
      tenths.push({ cpu: used / count, reads: per('firestore.reads'), writes: per('firestore.writes') });
    }
    await load({ url: ingest.url, inFlight: 1, count: 1, body: () => push(events, 'arrived') });
  } finally {
    await ingest.stop();
  }
  const finish = await Subject.start({ target: 'finish', source: ROOT, env });
  try {
    const hint = wrap(Buffer.from(JSON.stringify({ unique_key: KEY })), 'long-hint');
    await load({ url: finish.url, inFlight: 1, count: 1, body: () => hint });
  } finally {
    await finish.stop();
  }
  const last = tenths.at(-1)!;
  // The first tenth holds the ids that are kept inline, and the compiling of the code.
  return {
    events,
    growth: last.cpu / tenths[1]!.cpu,
    reads: last.reads,
    writes: last.writes,
    failures,
    ...(await outcome(cloud)),
  };
}

async function outcome(cloud: CloudProcess): Promise<{ document: number; totalSteps: number }> {
  const clients = connect(cloud.env as never);
  try {
    const { docs } = await clients.firestore.collection('sequences').where('key', '==', KEY).get();
    const sizes = docs.map((doc) => Object.values(doc.data()).reduce<number>((sum, value) => sum + sizeOf(value), 500));
    const [rows] = await clients.bigquery.query({
      query: `SELECT total_steps FROM \`${DATASET}.summaries\` WHERE unique_key = @key`,
      params: { key: KEY },
    });
    return {
      document: Math.max(0, ...sizes),
      totalSteps: Number((rows as { total_steps: number }[])[0]?.total_steps ?? 0),
    };
  } finally {
    await clients.close();
  }
}

function sizeOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  return typeof value === 'string' ? Buffer.byteLength(value) : 8;
}
