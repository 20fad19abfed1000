import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { startCloud, type Cloud } from '../../local/cloud.ts';
import { select } from '../../local/demo/observe.ts';
import { FunctionProcess } from '../../local/functions.ts';
import { DATASET, LOCATION, PROJECT } from '../../local/resources.ts';
import type { FaultHook } from '../../local/shared/faults.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The local cloud with the function submit, and what a producer's test asks of it. */
export class Setup {
  readonly cloud: Cloud;
  readonly submit: FunctionProcess;

  private constructor(cloud: Cloud, submit: FunctionProcess) {
    this.cloud = cloud;
    this.submit = submit;
  }

  static async start(options: { faults?: FaultHook; settings?: Record<string, string> } = {}): Promise<Setup> {
    const cloud = await startCloud({ ...options, everySeconds: { join: 3600, sweep: 3600 } });
    const env = { PROJECT_ID: PROJECT, DATASET, LOCATION, METADATA_SERVER_DETECTION: 'none' };
    const submit = await FunctionProcess.create({ name: 'submit', env: { ...env, ...cloud.addresses } });
    await submit.start();
    return new Setup(cloud, submit);
  }

  async stop(): Promise<void> {
    await this.submit.stop();
    await this.cloud.stop();
  }

  async post(body: string, headers: Record<string, string> = { 'content-type': 'application/json' }): Promise<Answer> {
    return answerOf(await fetch(this.submit.url, { method: 'POST', body, headers }));
  }

  async get(key: string, id: string): Promise<Record<string, unknown>> {
    const query = new URLSearchParams({ unique_key: key, event_id: id });
    const response = await fetch(`${this.submit.url}?${query.toString()}`);
    return (await response.json()) as Record<string, unknown>;
  }

  rows(sql: string): Promise<Readonly<Record<string, unknown>>[]> {
    return select(this.cloud.clients.bigquery, sql);
  }

  /** Waits until Pub/Sub has nothing left to deliver. */
  async quiet(): Promise<void> {
    while (Object.entries(this.cloud.backlog()).some(([name, n]) => name !== 'results-local' && n > 0)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** `npm run redrive` against this cloud, as it runs against Google Cloud. */
  redrive(ledger: string, ...args: readonly string[]): Command {
    const all = [path.join(ROOT, 'scripts/redrive.ts'), '--project', PROJECT, '--ledger', ledger, ...args];
    return new Command(
      spawn(process.execPath, all, {
        env: { ...process.env, ...this.cloud.addresses },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
  }
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: { readonly code?: string; readonly results?: readonly { outcome: string; code?: string }[] };
}

async function answerOf(response: Response): Promise<Answer> {
  const body = (await response.json()) as Answer['body'];
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body };
}

/** A command that was started. */
export class Command {
  readonly #child: ChildProcess;
  output = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout!, child.stderr!]) {
      createInterface({ input: stream }).on('line', (line) => (this.output += `${line}\n`));
    }
  }

  /** `kill -9` as soon as it has printed what matches. */
  async killAt(pattern: RegExp): Promise<void> {
    const closed = once(this.#child, 'close');
    this.#child.stdout!.on('data', () => setImmediate(() => pattern.test(this.output) && this.#child.kill('SIGKILL')));
    await closed;
  }

  async exit(): Promise<number | null> {
    if (this.#child.exitCode === null) await once(this.#child, 'close');
    return this.#child.exitCode;
  }
}
