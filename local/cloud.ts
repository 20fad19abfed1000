import path from 'node:path';
import type { JoinSettings } from '../functions/core/join/settings.ts';
import { startBigQuery } from './bigquery/server.ts';
import { connect, type Addresses, type Clients } from './clients.ts';
import { startFirestore } from './firestore/server.ts';
import { FunctionProcess } from './functions.ts';
import { createJoinViews, joinsOf, ROOT, subscriptionOf, topicsOf } from './joins.ts';
import { freePort } from './ports.ts';
import { createTables, createTopics } from './provision.ts';
import { startPubSub, type AcceptedListener, type PubSubServer } from './pubsub/server.ts';
import * as resources from './resources.ts';
import { startScheduler } from './scheduler/server.ts';
import { Faults, type FaultHook } from './shared/faults.ts';
import { Meter } from './shared/meter.ts';
import type { TasksServer } from './tasks/server.ts';
import { startWrites } from './writes.ts';

/** What every event passes. */
const ALWAYS = ['ingest', 'finish', 'join', 'sweep'] as const;
/** Only for callers of their own; each function is a process of some 200 MB. */
const FOR_CALLERS = ['submit', 'poll'] as const;

type Functions = Readonly<
  Record<(typeof ALWAYS)[number], FunctionProcess> & Partial<Record<(typeof FOR_CALLERS)[number], FunctionProcess>>
>;

export interface CloudOptions {
  /** Folder in which all state survives; in memory when absent. */
  readonly stateDir?: string;
  /** Folder for the functions' logs. */
  readonly logDir?: string;
  /** Starts Cloud Tasks and the functions that are called over HTTP, too. */
  readonly callers?: boolean;
  readonly faults?: FaultHook;
  /** Makes who is told of every message that Pub/Sub takes; called once the state folder is this cloud's alone. */
  readonly listener?: () => AcceptedListener;
  /** Folder with the `joins/` to run; this project by default. */
  readonly root?: string;
  /** Settings of the functions beside the addresses; see functions/settings.ts. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Told when the tables are there, before a join can read them. */
  readonly onTables?: (bigquery: Clients['bigquery']) => Promise<void>;
  /** Seconds between two runs of join and of sweep; in the cloud 120 and 60. */
  readonly everySeconds?: { readonly join: number; readonly sweep: number };
  /** What a function is given for the addresses of the servers, such as those of somebody who listens in between. */
  readonly reach?: (name: string, addresses: Addresses) => Promise<Addresses>;
}

/** All servers, the functions and clients for them. */
export class Cloud {
  readonly addresses: Addresses;
  readonly meter: Meter;
  readonly functions: Functions;
  readonly clients: Clients;
  readonly pubsub: PubSubServer;
  readonly joins: readonly JoinSettings[];
  /** Null without `callers`. */
  readonly tasks: TasksServer | null;
  readonly #servers: readonly { stop(): Promise<void> }[];

  constructor(parts: {
    addresses: Addresses;
    meter: Meter;
    functions: Functions;
    clients: Clients;
    pubsub: PubSubServer;
    joins: readonly JoinSettings[];
    tasks: TasksServer | null;
    servers: readonly { stop(): Promise<void> }[];
  }) {
    this.addresses = parts.addresses;
    this.meter = parts.meter;
    this.functions = parts.functions;
    this.clients = parts.clients;
    this.pubsub = parts.pubsub;
    this.joins = parts.joins;
    this.tasks = parts.tasks;
    this.#servers = parts.servers;
  }

  /** Messages that are not acknowledged yet, by subscription. */
  backlog(): Record<string, number> {
    const names = [
      ...resources.PUSH.map(({ name }) => name),
      ...(this.tasks === null ? [] : [resources.WATCHES.name]),
      resources.DEAD_LETTERS_SUBSCRIPTION,
      ...topicsOf(this.joins).map(subscriptionOf),
    ];
    return Object.fromEntries(
      names.map((name) => [name, this.pubsub.backlog(`projects/${resources.PROJECT}/subscriptions/${name}`)]),
    );
  }

  /** Ends every process and server. */
  async stop(): Promise<void> {
    await this.clients.close();
    await Promise.all(Object.values(this.functions).map((one) => one.stop()));
    for (const server of this.#servers) await server.stop();
  }
}

/** Starts everything and returns when it is ready for events. What was started is ended when a part fails. */
export async function startCloud(options: CloudOptions = {}): Promise<Cloud> {
  const started: { stop(): Promise<void> }[] = [];
  const keep = <T extends { stop(): Promise<void> }>(one: T): T => {
    started.unshift(one);
    return one;
  };
  try {
    return await start(options, keep, started);
  } catch (error) {
    for (const one of started) await one.stop().catch(() => undefined);
    throw error;
  }
}

async function start(
  options: CloudOptions,
  keep: <T extends { stop(): Promise<void> }>(one: T) => T,
  started: readonly { stop(): Promise<void> }[],
): Promise<Cloud> {
  const meter = new Meter();
  const { stateDir } = options;
  const faults = new Faults(options.faults);
  const common = (name: string) => ({
    meter,
    faults,
    ...(stateDir !== undefined && { stateDir: path.join(stateDir, name) }),
  });
  const bigquery = keep(
    await startBigQuery({ ...common('bigquery'), project: resources.PROJECT, location: resources.LOCATION }),
  );
  const firestore = keep(await startFirestore(common('firestore')));
  const pubsub: PubSubServer = keep(
    await startPubSub({
      ...common('pubsub'),
      bigQueryWriter: (table, rows) => bigquery.insertRows(table, rows),
      ...(options.listener && { onAccepted: options.listener() }),
    }),
  );
  const addresses: Addresses = {
    PUBSUB_EMULATOR_HOST: pubsub.address,
    FIRESTORE_EMULATOR_HOST: firestore.address,
    BIGQUERY_EMULATOR_HOST: `http://${bigquery.address}`,
    BIGQUERY_STORAGE_EMULATOR_HOST: bigquery.grpcAddress,
    // Known before it is there: the functions are told, and its tasks go out only when they have their ports.
    ...(options.callers === true && { CLOUD_TASKS_EMULATOR_HOST: `127.0.0.1:${await freePort()}` }),
  };
  const functions = await createFunctions(addresses, options);
  const tasksPort = Number(addresses.CLOUD_TASKS_EMULATOR_HOST?.split(':')[1]);
  const tasks =
    options.callers === true
      ? keep(await startWrites({ ...common('tasks'), port: tasksPort }, (name) => functions[name]!.url))
      : null;
  const clients = connect(addresses);
  const joins = joinsOf(options.root ?? ROOT, options.settings);
  await createTables(clients.bigquery, options.settings);
  await options.onTables?.(clients.bigquery);
  await createJoinViews(clients.bigquery, joins);
  for (const one of Object.values(functions)) keep(one);
  await Promise.all(Object.values(functions).map((one) => one.start()));
  const { ingest, finish, poll } = functions;
  const urls = { ingest: ingest.url, finish: finish.url, ...(poll && { poll: poll.url }) };
  await createTopics(clients.pubsub, urls, topicsOf(joins));
  const scheduler = keep(await startScheduler({ meter, faults }));
  const every = options.everySeconds ?? { join: 2, sweep: 5 };
  const jobs = [
    ...joins.map(({ name, schedule }) => ({ name: `join-${name}`, entry: 'join', schedule, body: { join: name } }) as const), // prettier-ignore
    { name: 'sweep', entry: 'sweep', schedule: resources.SWEEP_SCHEDULE, body: {} } as const,
  ];
  for (const { name, entry, schedule, body } of jobs) {
    scheduler.createJob({
      name,
      schedule,
      httpTarget: {
        uri: functions[entry].url,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
        oidcToken: { serviceAccountEmail: `scheduler@${resources.PROJECT}.iam.gserviceaccount.com` },
      },
      attemptDeadlineMs: 600_000,
      everyMs: every[entry] * 1000,
    });
  }
  const servers = started.filter((one) => !(one instanceof FunctionProcess));
  return new Cloud({ addresses, meter, functions, clients, pubsub, joins, tasks, servers });
}

async function createFunctions(
  addresses: Addresses,
  { settings, reach, logDir, root, callers = false }: CloudOptions,
): Promise<Functions> {
  const pairs: [string, FunctionProcess][] = [];
  for (const name of [...ALWAYS, ...(callers ? FOR_CALLERS : [])]) {
    const env = {
      METADATA_SERVER_DETECTION: 'none',
      PROJECT_ID: resources.PROJECT,
      DATASET: resources.DATASET,
      LOCATION: resources.LOCATION,
      FIRESTORE_DATABASE: resources.DATABASE,
      ...((await reach?.(name, addresses)) ?? addresses),
      ...settings,
    };
    const place = { ...(logDir !== undefined && { logDir }), ...(root !== undefined && { cwd: root }) };
    pairs.push([name, await FunctionProcess.create({ name, env, ...place })]);
  }
  return Object.fromEntries(pairs) as unknown as Functions;
}
