import { CloudProcess, difference, type Counts } from './cloud-process.ts';
import { load, type Loaded, type LoadOptions } from './load.ts';
import { Subject, type SubjectOptions } from './subject.ts';

/** One measurement. Everything is per request of the load, but for memory. */
export interface Run {
  readonly name: string;
  readonly inFlight: number;
  readonly events: number;
  readonly eventsPerSecond: number;
  /** User and system time of the function's process. */
  readonly cpuMicros: number;
  /** Milliseconds from sending an event to its acknowledgement. */
  readonly p50: number;
  readonly p99: number;
  readonly peakMiB: number;
  /** Bytes of the heap that were still alive in the end and not at the start. */
  readonly heapGrowth: number;
  readonly failures: Loaded['failures'];
  /** Calls and billable operations, per event. */
  readonly operations: Counts;
}

export interface Measured extends Omit<SubjectOptions, 'env'> {
  readonly name: string;
  readonly inFlight: number;
  readonly events: number;
  /** Requests before the clock runs: code is compiled, connections are made. */
  readonly warmUp: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** The body of request `n`; those of the warm-up come first. */
  readonly body: LoadOptions['body'];
}

const MIB = 2 ** 20;

/** Starts the function, warms it up, loads it and ends it. */
export async function measure(cloud: CloudProcess, what: Measured): Promise<Run> {
  const { name, inFlight, events, warmUp, body, settings } = what;
  const subject = await Subject.start({ ...what, env: { ...cloud.env, ...settings } });
  try {
    const { url } = subject;
    // The first request alone: some create their tables then.
    await load({ url, inFlight: 1, count: 1, body });
    const warm = await load({ url, inFlight, count: warmUp, body });
    if (Object.values(warm.failures).reduce((sum, n) => sum + n, 0) === warmUp)
      throw new Error(`${name} fails:\n${subject.log()}`);
    const before = await subject.usage(true);
    const countsBefore = await cloud.counts();
    // From here on the collection just asked for must not count.
    const start = await subject.usage();
    const loaded = await load({ url, inFlight, count: events, body: (n) => body(warmUp + n) });
    const end = await subject.usage();
    if (Object.keys(loaded.failures).length > 0) process.stderr.write(`${name} fails at times:\n${subject.log()}\n`);
    const counts = difference(countsBefore, await cloud.counts());
    const after = await subject.usage(true);
    return {
      name,
      inFlight,
      events,
      eventsPerSecond: events / loaded.seconds,
      cpuMicros: (end.cpuMicros - start.cpuMicros) / events,
      p50: loaded.p50,
      p99: loaded.p99,
      peakMiB: end.peak / MIB,
      heapGrowth: after.heapUsed - before.heapUsed,
      failures: loaded.failures,
      operations: Object.fromEntries(Object.entries(counts).map(([counter, n]) => [counter, n / events])),
    };
  } finally {
    await subject.stop();
  }
}
