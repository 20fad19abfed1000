import path from 'node:path';
import { difference, type CloudProcess } from './cloud-process.ts';
import type { EventSource } from './events.ts';
import { load } from './load.ts';
import { ROOT, Subject } from './subject.ts';

export interface Joined {
  readonly rows: number;
  readonly published: number;
  /** Rows a second of CPU: of `join`, and of Google's client that publishes the same number of messages and no more. */
  readonly perCpuSecond: number;
  readonly bare: number;
  readonly peakMiB: number;
}

const SETTINGS = { JOIN_LAG: '1s', JOIN_WAIT: '0s' };
const TICKS = 20;

/**
 * So many new rows in one window of a join, from the tick that reads them until the last is published. Both sides have
 * the same flags of Node.
 */
export async function joined(
  cloud: CloudProcess,
  source: EventSource,
  rows: number,
  flags: readonly string[],
): Promise<Joined> {
  const env = { ...cloud.env, ...SETTINGS, MAX_BYTES_BILLED: '1TB' };
  const join = await Subject.start({ target: 'join', source: ROOT, env, flags });
  try {
    // The cursor begins now.
    await tick(join);
    const ingest = await Subject.start({ target: 'ingest', source: ROOT, env });
    await load({ url: ingest.url, inFlight: 300, count: rows, body: (n) => source.push(n, 'join', 'bursts') });
    await ingest.stop();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const [before, counts] = [await join.usage(), await cloud.counts()];
    let published = 0;
    for (let n = 0; n < TICKS && published < rows; n++) {
      await tick(join);
      published = difference(counts, await cloud.counts())['pubsub.publish_messages'] ?? 0;
    }
    const after = await join.usage();
    return {
      rows,
      published,
      perCpuSecond: (published * 1e6) / (after.cpuMicros - before.cpuMicros),
      bare: await publish(cloud, rows, flags),
      peakMiB: after.peak / 2 ** 20,
    };
  } finally {
    await join.stop();
  }
}

export async function tick(join: Subject): Promise<void> {
  const { failures } = await load({ url: join.url, inFlight: 1, count: 1, body: () => '{}' });
  if (Object.keys(failures).length > 0) throw new Error(`join fails: ${JSON.stringify(failures)}\n${join.log()}`);
}

async function publish(cloud: CloudProcess, count: number, flags: readonly string[]): Promise<number> {
  const source = path.join(ROOT, 'test/bench/subjects/publisher.ts');
  const publisher = await Subject.start({ target: 'publisher', source, env: cloud.env, flags });
  try {
    const send = (many: number) =>
      load({
        url: publisher.url,
        inFlight: 1,
        count: 1,
        body: () => JSON.stringify({ count: many, message: 'x'.repeat(1200) }),
      });
    await send(1000);
    const before = await publisher.usage();
    await send(count);
    return (count * 1e6) / ((await publisher.usage()).cpuMicros - before.cpuMicros);
  } finally {
    await publisher.stop();
  }
}
