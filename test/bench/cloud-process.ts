import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Addresses } from '../../local/clients.ts';
import * as resources from '../../local/resources.ts';

export type Counts = Readonly<Record<string, number>>;

/** The local cloud in a process of its own. */
export class CloudProcess {
  /** Environment of a function that uses it. */
  readonly env: Readonly<Record<string, string>>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, addresses: Addresses) {
    this.#child = child;
    this.env = {
      METADATA_SERVER_DETECTION: 'none',
      PROJECT_ID: resources.PROJECT,
      GOOGLE_CLOUD_PROJECT: resources.PROJECT,
      DATASET: resources.DATASET,
      LOCATION: resources.LOCATION,
      ...addresses,
    };
  }

  static async start(): Promise<CloudProcess> {
    const child = fork(path.join(import.meta.dirname, 'cloud.ts'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [addresses] = (await once(child, 'message')) as [Addresses];
    return new CloudProcess(child, addresses);
  }

  /** What was metered so far; with `slowMs`, every call from now on takes so much longer. */
  async counts(slowMs?: number): Promise<Counts> {
    this.#child.send(slowMs === undefined ? {} : { slowMs });
    const [counts] = (await once(this.#child, 'message')) as [Counts];
    return counts;
  }

  /** Moves BigQuery's clock on. */
  async advance(seconds: number): Promise<void> {
    this.#child.send({ advance: seconds });
    await once(this.#child, 'message');
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}

export function difference(before: Counts, after: Counts): Counts {
  const changed = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)] as const);
  return Object.fromEntries(changed.filter(([, count]) => count !== 0));
}
