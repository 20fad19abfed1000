import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig, type Config } from '../../functions/config.ts';
import { createRuntime } from '../../functions/gcp/runtime.ts';
import type { Handler } from '../../functions/http/handler.ts';
import * as ingest from '../../functions/ingest.ts';
import type { LogEntry } from '../../functions/log.ts';
import * as poll from '../../functions/poll.ts';
import type { Clock } from '../../functions/ports.ts';
import * as sweep from '../../functions/sweep.ts';
import { startBigQuery } from '../../local/bigquery/server.ts';
import { connect, type Clients } from '../../local/clients.ts';
import { startFirestore } from '../../local/firestore/server.ts';
import { createTables, createTopics } from '../../local/provision.ts';
import { startPubSub } from '../../local/pubsub/server.ts';
import { DATASET, LOCATION, POLL_QUEUE, PROJECT, REGION } from '../../local/resources.ts';
import { Faults, type FaultHook } from '../../local/shared/faults.ts';
import type { Time } from '../../local/shared/time.ts';
import { startTasks, type TasksServer } from '../../local/tasks/server.ts';
import { tasksClient } from '../../local/writes.ts';
import { mortal } from './mortal.ts';

/** How much faster than real time the clocks of the functions and of Cloud Tasks go; the machine's delays count so much more. */
export const SPEED = Number(process.env['SPEED'] ?? 10);

/** Several instances of `poll`, one of `ingest` and `sweep`, over local servers and the real clients. */
export interface PollCloud {
  readonly clients: Clients;
  readonly tasks: TasksServer;
  readonly clock: Clock;
  readonly logged: LogEntry[];
  /** Where an instance of poll listens. */
  readonly poll: string;
  sweep(): Promise<Readonly<Record<string, unknown>>>;
  /** Messages not acknowledged. */
  backlog(): number;
  /** Instances of poll that died. */
  deaths(): number;
  stop(): Promise<void>;
}

function fastClocks(): { clock: Clock; time: Time } {
  const start = Date.now();
  const now = () => start + (performance.now() - origin) * SPEED;
  const origin = performance.now();
  const clock: Clock = {
    now: () => Math.round(now() * 1000),
    // Only deadlines sleep: they are those of the machine.
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, ms).unref();
        signal?.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(signal.reason as Error);
        });
      }),
  };
  const time: Time = {
    now,
    setTimeout(fn, ms) {
      const timer = setTimeout(fn, Math.min(ms / SPEED, 2 ** 31 - 1));
      return () => clearTimeout(timer);
    },
  };
  return { clock, time };
}

/** Serves a handler as the functions framework would. */
async function serve(
  handler: Handler,
  log: (entry: LogEntry) => void,
): Promise<{ url: string; stop: () => void; cut: () => void }> {
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const rawBody = Buffer.concat(chunks);
      const [path = '/', query = ''] = (request.url ?? '/').split('?');
      const headers = request.headers as Record<string, string>;
      const json = rawBody.length > 0 && headers['content-type']?.startsWith('application/json');
      const body: unknown = json === true ? JSON.parse(rawBody.toString()) : undefined;
      handler({ method: request.method ?? '', path, query, headers, body, rawBody }, log).then(
        ({ status, body: answer }) =>
          response.writeHead(status).end(answer === undefined ? '' : JSON.stringify(answer)),
        (error: unknown) => {
          log({ severity: 'ERROR', event: 'handler_failed', error });
          response.writeHead(500).end();
        },
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => server.closeAllConnections();
  const stop = (): void => {
    cut();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, stop, cut };
}

/** `dies` is asked before and after every call of an instance of `poll` whether it dies there; another takes its place. */
export async function startPollCloud(
  settings: Record<string, string>,
  hook: FaultHook,
  dies: () => boolean = () => false,
): Promise<PollCloud> {
  const { clock, time } = fastClocks();
  const faults = new Faults(hook);
  const bigquery = await startBigQuery({ project: PROJECT, location: LOCATION });
  const firestore = await startFirestore();
  const pubsub = await startPubSub({ faults, bigQueryWriter: (table, rows) => bigquery.insertRows(table, rows) });
  const polls: string[] = [];
  let deaths = 0;
  let turn = 0;
  const tasks = await startTasks({ time, faults, override: () => polls[turn++ % polls.length] });
  const addresses = {
    PUBSUB_EMULATOR_HOST: pubsub.address,
    FIRESTORE_EMULATOR_HOST: firestore.address,
    BIGQUERY_EMULATOR_HOST: `http://${bigquery.address}`,
    BIGQUERY_STORAGE_EMULATOR_HOST: bigquery.grpcAddress,
    CLOUD_TASKS_EMULATOR_HOST: tasks.address,
  };
  const clients = connect(addresses);
  const config: Config = loadConfig({
    PROJECT_ID: PROJECT,
    DATASET,
    LOCATION,
    REGION,
    POLL_QUEUE,
    ...addresses,
    ...settings,
  });
  const logged: LogEntry[] = [];
  const log = (entry: LogEntry): void => void logged.push(entry);
  const context = { config, log, clock };
  const stops: (() => void)[] = [];
  const start = async (handler: Handler) => {
    const { url, stop } = await serve(handler, log);
    stops.push(stop);
    return url;
  };
  const queues = tasksClient(tasks.address);
  const retryConfig = { maxAttempts: -1, minBackoff: { seconds: 1 }, maxBackoff: { seconds: 10 } };
  await queues.createQueue({
    parent: queues.locationPath(PROJECT, REGION),
    queue: { name: queues.queuePath(PROJECT, REGION, POLL_QUEUE), retryConfig },
  });
  await queues.close();
  for (let i = 0; i < 4; i++) {
    let abandon = (): void => undefined;
    const instance = async (): Promise<Handler> => {
      const { ports, ...rest } = await createRuntime(context, poll.uses);
      return poll.create({ ...rest, ports: mortal(ports, dies, replace) });
    };
    const replace = (): void => {
      deaths++;
      current = instance();
      abandon();
    };
    let current = instance();
    const { url, stop, cut } = await serve(async (request, to) => (await current)(request, to), log);
    abandon = cut;
    stops.push(stop);
    polls.push(url);
  }
  const sweeper = sweep.create(await createRuntime(context, sweep.uses));
  const ingestUrl = await start(ingest.create(await createRuntime(context, ingest.uses)));
  await createTables(clients.bigquery);
  await createTopics(clients.pubsub, { ingest: ingestUrl, finish: ingestUrl, poll: polls[0]! });
  // Nobody here writes summaries.
  await clients.pubsub.subscription('completions-finish').delete();
  return {
    clients,
    tasks,
    clock,
    logged,
    poll: polls[1]!,
    async sweep() {
      const { body } = await sweeper({ method: 'POST', path: '/', headers: {}, body: null, rawBody: null }, log);
      return body as Record<string, unknown>;
    },
    deaths: () => deaths,
    backlog: () =>
      ['events-ingest', 'watches-poll', 'dead-letters-bigquery'].reduce((sum, name) => sum + pubsub.backlog(`projects/${PROJECT}/subscriptions/${name}`), 0), // prettier-ignore
    async stop() {
      await tasks.stop();
      for (const stop of stops) stop();
      await clients.close();
      await pubsub.stop();
      await firestore.stop();
      await bigquery.stop();
    },
  };
}
