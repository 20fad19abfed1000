import { BigQuery } from '@google-cloud/bigquery';
import { PubSub } from '@google-cloud/pubsub';
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import { loadConfig } from '../../functions/config.ts';
import { createClock } from '../../functions/gcp/clock.ts';
import { createTasks } from '../../functions/gcp/cloud-tasks.ts';
import { createStore } from '../../functions/gcp/firestore-store.ts';
import { createBus } from '../../functions/gcp/pubsub-bus.ts';
import { createEventsTable } from '../../functions/gcp/storage-write.ts';
import { createWarehouse } from '../../functions/gcp/warehouse.ts';
import type { Message } from '../../functions/ports.ts';
import { startBigQuery } from '../../local/bigquery/server.ts';
import { startFirestore } from '../../local/firestore/server.ts';
import { createTables } from '../../local/provision.ts';
import { startPubSub } from '../../local/pubsub/server.ts';
import { DATASET, POLL_QUEUE, PROJECT, REGION, TOPICS } from '../../local/resources.ts';
import { FakeTime } from '../../local/shared/fake-time.ts';
import { Faults, type Call, type Fault } from '../../local/shared/faults.ts';
import { startReceiver, type Arrival, type Receiver } from '../../local/shared/receiver.ts';
import { startTasks } from '../../local/tasks/server.ts';
import { START } from '../fakes/clock.ts';
import type { PortName, Trouble, World } from './world.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

const EFFECTS: Readonly<Record<string, PortName>> = {
  'firestore/Commit': 'store',
  'pubsub/Publish': 'bus',
  'bigquery/AppendRows': 'events',
  'tasks/CreateTask': 'tasks',
  'bigquery/jobs.insert': 'warehouse',
};
const FAULTS: Readonly<Record<Trouble, Fault>> = {
  // PERMISSION_DENIED: nothing happened, and no client tries again.
  refused: { kind: 'refuse', code: 7 },
  'never arrived': { kind: 'refuse', code: 14 },
  'answer lost': { kind: 'lose_answer', code: 14 },
};

/** Which calls of the servers meet trouble. */
class Troubles {
  #list: { readonly port: PortName; readonly trouble: Trouble; left: number }[] = [];
  losing = false;

  add(port: PortName, trouble: Trouble, times: number): void {
    this.#list.push({ port, trouble, left: times });
  }

  clear(): void {
    this.#list = [];
  }

  faultOf({ service, method }: Call): Fault | undefined {
    if (method === 'enqueue') return this.losing ? { kind: 'refuse' } : undefined;
    const port = EFFECTS[`${service}/${method}`];
    const found = this.#list.find((one) => one.port === port && one.left > 0);
    if (found === undefined) return undefined;
    found.left--;
    return FAULTS[found.trouble];
  }
}

/** The adapters of functions/gcp, speaking to the servers of local/ in this process. */
export async function localWorld(): Promise<World> {
  const time = new FakeTime(START / 1000);
  const now = () => time.now() * 1000;
  const troubles = new Troubles();
  const common = () => ({ faults: new Faults((call) => troubles.faultOf(call)) });
  const pushed = await startReceiver((arrival) => arrival.answer(200));
  const dispatched: string[] = [];
  const target = await startReceiver((arrival) => {
    dispatched.push(String(arrival.headers['x-cloudtasks-taskname']));
    arrival.answer(200);
  });
  const bigquery = await startBigQuery({ ...common(), project: PROJECT, clock: now });
  const firestore = await startFirestore(common());
  const pubsub = await startPubSub(common());
  const tasks = await startTasks({ ...common(), time });
  const config = loadConfig({
    PROJECT_ID: PROJECT,
    DATASET,
    PUBSUB_EMULATOR_HOST: pubsub.address,
    FIRESTORE_EMULATOR_HOST: firestore.address,
    BIGQUERY_EMULATOR_HOST: `http://${bigquery.address}`,
    BIGQUERY_STORAGE_EMULATOR_HOST: bigquery.grpcAddress,
    CLOUD_TASKS_EMULATOR_HOST: tasks.address,
    POLL_URL: target.url,
    PORT_DEADLINE: '3s',
  });
  await createTables(new BigQuery({ projectId: PROJECT, apiEndpoint: `http://${bigquery.address}` }));
  await createTopics(pubsub.address, pushed);
  await createQueue(tasks.address);
  const context = { config, clock: createClock(), log: () => undefined };
  const store = createStore(context);
  const taskPort = createTasks(context);
  const messages: [topic: string, message: Message][] = [];
  return {
    side: 'local',
    store,
    bus: createBus(context),
    events: createEventsTable(context),
    tasks: taskPort,
    warehouse: createWarehouse(context),
    trouble: (port, trouble, times = Infinity) => troubles.add(port, trouble, times),
    calm: () => troubles.clear(),
    now,
    advance: (micros) => time.advance(micros / 1000),
    async published(topic) {
      await pubsub.waitIdle();
      while (messages.length < pushed.count) messages.push(readPush(await pushed.next()));
      return messages.filter(([name]) => name === topic).map(([, message]) => message);
    },
    async sent(name) {
      while (!dispatched.includes(name)) await target.next();
      return dispatched;
    },
    loseTasks: (lost) => {
      troubles.losing = lost;
    },
    async commits() {
      const rows = await bigquery.query(
        `SELECT event_id AS id, _CHANGE_TIMESTAMP AS time
         FROM APPENDS(TABLE \`${PROJECT}.${DATASET}.events\`, NULL, NULL)
         ORDER BY time`,
      );
      return rows as { id: string; time: number }[];
    },
    reference: (joinKey, attribute) =>
      bigquery.insertRows(`${DATASET}.reference`, [
        { join_key: joinKey, target_attribute: attribute, updated_at: '2024-01-01 00:00:00+00' },
      ]),
    endJobs: () => undefined,
    expireResults: () => time.advance(25 * 3_600_000),
    async stop() {
      await Promise.all([store.close(), taskPort.close()]);
      for (const server of [bigquery, firestore, pubsub, tasks, pushed, target]) await server.stop();
    },
  };
}

/** Each topic pushes to the receiver, whose path says which one it is. */
async function createTopics(address: string, { url }: Receiver): Promise<void> {
  const client = new PubSub({ projectId: PROJECT, apiEndpoint: address, emulatorMode: true });
  for (const topic of TOPICS) {
    await client.createTopic(topic);
    await client.createSubscription(topic, `${topic}-push`, {
      pushConfig: { pushEndpoint: url + topic },
      enableMessageOrdering: true,
    });
  }
  await client.close();
}

async function createQueue(address: string): Promise<void> {
  const [apiEndpoint, port] = address.split(':');
  const client = new CloudTasksClient({
    apiEndpoint: apiEndpoint!,
    port: Number(port),
    sslCreds: credentials.createInsecure(),
  });
  const parent = `projects/${PROJECT}/locations/${REGION}`;
  await client.createQueue({ parent, queue: { name: `${parent}/queues/${POLL_QUEUE}` } });
  await client.close();
}

function readPush({ path, body }: Arrival): [topic: string, message: Message] {
  const { message } = JSON.parse(body) as {
    message: { data?: string; attributes?: Record<string, string>; orderingKey?: string };
  };
  const { data = '', attributes = {}, orderingKey } = message;
  return [
    path.slice(1),
    {
      data: new Uint8Array(Buffer.from(data, 'base64')),
      attributes,
      ...(orderingKey === undefined ? {} : { orderingKey }),
    },
  ];
}
