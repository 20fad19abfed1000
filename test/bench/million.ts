import type { CloudProcess } from './cloud-process.ts';
import type { EventSource } from './events.ts';
import { load } from './load.ts';
import { ROOT, Subject } from './subject.ts';

export interface Million {
  readonly events: number;
  /** MiB of heap alive after each tenth. */
  readonly heap: readonly number[];
  readonly peakMiB: number;
  readonly failures: number;
}

/** So many events, in bursts of fifty of a key, through one instance. */
export async function million(
  cloud: CloudProcess,
  source: EventSource,
  events: number,
  settings: Readonly<Record<string, string>>,
): Promise<Million> {
  const ingest = await Subject.start({ target: 'ingest', source: ROOT, env: { ...cloud.env, ...settings } });
  try {
    const tenth = Math.ceil(events / 10);
    const heap: number[] = [];
    let failures = 0;
    for (let n = 0; n < 10; n++) {
      const body = (i: number): string => source.push(n * tenth + i, 'million', 'bursts');
      const loaded = await load({ url: ingest.url, inFlight: 200, count: tenth, body });
      failures += Object.values(loaded.failures).reduce((sum, count) => sum + count, 0);
      heap.push((await ingest.usage(true)).heapUsed);
      process.stderr.write(`  ${(n + 1) * tenth} events: ${(heap.at(-1)! / 2 ** 20).toFixed(1)} MiB of heap\n`);
    }
    const { peak } = await ingest.usage();
    return {
      events,
      heap: heap.map((bytes) => bytes / 2 ** 20),
      peakMiB: peak / 2 ** 20,
      failures,
    };
  } finally {
    await ingest.stop();
  }
}
