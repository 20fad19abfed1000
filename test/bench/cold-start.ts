import path from 'node:path';
import { CloudProcess } from './cloud-process.ts';
import { load } from './load.ts';
import { ROOT, Subject } from './subject.ts';

export const ENTRY_POINTS = ['ingest', 'submit', 'finish', 'join', 'poll', 'sweep'] as const;

/** Milliseconds from the start of the process to its first answer, the median of some starts; null when it is not there. */
export async function coldStart(
  cloud: CloudProcess,
  target: string,
  source: string,
  starts: number,
): Promise<number | null> {
  const times: number[] = [];
  for (let n = 0; n < starts; n++) {
    const begin = performance.now();
    let subject: Subject;
    try {
      subject = await Subject.start({ target, source, env: cloud.env });
    } catch {
      return null;
    }
    // Any answer will do: what is measured is the way to it.
    await load({ url: subject.url, inFlight: 1, count: 1, body: () => '{}' });
    times.push(performance.now() - begin);
    await subject.stop('SIGKILL');
  }
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)]!;
}

/** The bare framework beside each entry point of the bundle. */
export async function coldStarts(
  cloud: CloudProcess,
  starts: number,
): Promise<{ bare: number; entryPoints: Record<string, number> }> {
  const bare = await coldStart(cloud, 'ceiling', path.join(ROOT, 'test/bench/subjects/ceiling.ts'), starts);
  const entryPoints: Record<string, number> = {};
  for (const name of ENTRY_POINTS) {
    const ms = await coldStart(cloud, name, ROOT, starts);
    if (ms !== null) entryPoints[name] = ms;
  }
  return { bare: bare!, entryPoints };
}
