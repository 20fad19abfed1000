import assert from 'node:assert/strict';
import net, { type AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { BigQuery } from '@google-cloud/bigquery';
import { PubSub } from '@google-cloud/pubsub';
import { startBigQuery } from '../../local/bigquery/server.ts';
import { compile } from '../../local/bigquery/sql/index.ts';
import { startFirestore } from '../../local/firestore/server.ts';
import { startPubSub } from '../../local/pubsub/server.ts';
import { startTasks } from '../../local/tasks/server.ts';
import events from '../../terraform/schemas/events.json' with { type: 'json' };
import { loadConfig } from '../config.ts';
import type { EventRow } from '../core/event.ts';
import { createClock } from './clock.ts';
import { createTasks } from './cloud-tasks.ts';
import { createStore } from './firestore-store.ts';
import { createBus } from './pubsub-bus.ts';
import { createEventsTable } from './storage-write.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

const PROJECT = 'local-project';
const clock = createClock();

/** A way to a server whose connections can die without a word; new ones work. */
async function throughGateway(server: string) {
  const pairs: (readonly [net.Socket, net.Socket])[] = [];
  const [host, port] = server.split(':') as [string, string];
  const gateway = net.createServer((inner) => {
    const outer = net.connect(Number(port), host);
    for (const socket of [inner, outer]) socket.on('error', () => undefined);
    inner.pipe(outer).pipe(inner);
    pairs.push([inner, outer]);
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    connections: () => pairs.length,
    forget() {
      for (const [inner, outer] of pairs) {
        inner.unpipe(outer).resume();
        outer.unpipe(inner).resume();
      }
    },
    close() {
      gateway.close();
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
  };
}

async function untilAnswered(call: () => Promise<unknown>): Promise<void> {
  for (let answered = false; !answered;) {
    answered = await call().then(
      () => true,
      () => false,
    );
  }
}

/** Calls over a connection that dies without a word, until one succeeds. */
async function survives(
  server: string,
  connect: (address: string) => () => Promise<unknown>,
  close: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  const gateway = await throughGateway(server);
  try {
    const call = connect(gateway.address);
    await untilAnswered(call);
    const before = gateway.connections();
    gateway.forget();
    await untilAnswered(call);
    assert.equal(gateway.connections(), before + 1);
  } finally {
    await close();
    gateway.close();
  }
}

const config = (settings: Record<string, string>) =>
  loadConfig({ PROJECT_ID: PROJECT, PORT_DEADLINE: '300ms', ...settings });

describe('a connection that died without a word is replaced', { timeout: 30_000 }, () => {
  test('BigQuery', async (t) => {
    const server = await startBigQuery({ compile, project: PROJECT });
    t.after(() => server.stop());
    const [dataset] = await new BigQuery({ projectId: PROJECT, apiEndpoint: `http://${server.address}` }).createDataset('codaflow'); // prettier-ignore
    await dataset.createTable('events', { schema: { fields: events } });
    const row: EventRow = { event_id: 'e', unique_key: 'k', event_status: 's', event_time: clock.now(), join_key: null, sequence: null, payload: null, extra: null, attributes: null, message_id: null, publish_time: null, ingest_time: clock.now() }; // prettier-ignore
    await survives(server.grpcAddress, (address) => {
      const context = { config: config({ BIGQUERY_STORAGE_EMULATOR_HOST: address }), clock, log: () => undefined };
      const table = createEventsTable(context);
      return () => table.append([row]);
    });
  });

  test('Firestore', async (t) => {
    const server = await startFirestore();
    t.after(() => server.stop());
    // The client goes on with a read that was given up.
    const reads: Promise<unknown>[] = [];
    let store: ReturnType<typeof createStore> | undefined;
    const connect = (address: string) => {
      const opened = createStore({ config: config({ FIRESTORE_EMULATOR_HOST: address }) });
      store = opened;
      return () =>
        opened.transaction((tx) => {
          const read = tx.get(['c/d']);
          reads.push(read);
          return read;
        });
    };
    await survives(server.address, connect, () => Promise.allSettled(reads).then(() => store?.close()));
  });

  test('Pub/Sub', async (t) => {
    const server = await startPubSub();
    t.after(() => server.stop());
    const client = new PubSub({ projectId: PROJECT, apiEndpoint: server.address, emulatorMode: true });
    await client.createTopic('events');
    await client.close();
    await survives(server.address, (address) => {
      const bus = createBus({ config: config({ PUBSUB_EMULATOR_HOST: address }) });
      return async () => {
        const [published] = await bus.publish('events', [{ data: 'x', attributes: {} }]);
        if (published instanceof Error) throw published;
      };
    });
  });

  test('Cloud Tasks', async (t) => {
    const server = await startTasks();
    t.after(() => server.stop());
    await survives(server.address, (address) => {
      const tasks = createTasks({ config: config({ CLOUD_TASKS_EMULATOR_HOST: address }) });
      // Also a refusal is an answer: there is no queue.
      return () =>
        tasks.create({ queue: 'poll', name: 'a', scheduleTime: null, body: '{}' }).catch((error: Error) => {
          if (!error.message.includes('NOT_FOUND')) throw error;
        });
    });
  });
});
