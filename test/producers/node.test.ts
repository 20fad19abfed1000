import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import { PROJECT } from '../../local/resources.ts';
import { Faults } from '../../local/shared/faults.ts';
import { startTasks, type TasksServer } from '../../local/tasks/server.ts';
import { Setup } from './fixture.ts';
import { asFiles } from './snippets.ts';

const REGION = 'local';

interface Event {
  readonly unique_key: string;
  readonly event_id: string;
}
interface Publish {
  readonly newEvent: (key: string, status: string, payload?: unknown) => Event;
  readonly publish: (event: Event) => Promise<string>;
}
interface Tasks {
  readonly submitLater: (
    client: CloudTasksClient,
    event: Event,
    options?: { urgent?: boolean; at?: Date },
  ) => Promise<string>;
}
interface State {
  readonly stateOf: (key: string, id: string) => Promise<{ state: string; event: { held: boolean } }>;
}

describe('the Node of docs/producers.md on the local cloud', () => {
  const files = asFiles('js');
  const load = async (name: string): Promise<unknown> => import(path.join(files.folder, name));
  let setup: Setup;
  let tasks: TasksServer;
  let client: CloudTasksClient;

  before(async () => {
    setup = await Setup.start();
    Object.assign(process.env, { GOOGLE_CLOUD_PROJECT: PROJECT, REGION, SUBMIT_URL: setup.submit.url });
    // Every task arrives twice.
    tasks = await startTasks({
      faults: new Faults(({ method }) => (method === 'dispatch' ? { kind: 'deliver_twice' } : undefined)),
    });
    client = new CloudTasksClient({
      projectId: PROJECT,
      apiEndpoint: '127.0.0.1',
      port: Number(tasks.address.split(':')[1]),
      sslCreds: credentials.createInsecure(),
    });
    const parent = client.locationPath(PROJECT, REGION);
    for (const name of ['codaflow-urgent', 'codaflow-bulk']) {
      await client.createQueue({ parent, queue: { name: `${parent}/queues/${name}` } });
    }
  });
  after(async () => {
    files.remove();
    await client.close();
    await tasks.stop();
    await setup.stop();
  });

  test('an event that is published twice is stored once', async () => {
    const { newEvent, publish } = (await load('publish.js')) as Publish;
    const event = newEvent('order-1', 'completed', { total: 12.5 });
    await Promise.all([publish(event), publish(event)]);
    await setup.quiet();
    assert.deepEqual(await setup.rows("SELECT event_id, payload FROM events_unique WHERE unique_key = 'order-1'"), [
      { event_id: event.event_id, payload: '{"total":12.5}' },
    ]);
    const { stateOf } = (await load('state.js')) as State;
    const { state, event: found } = await stateOf('order-1', event.event_id);
    assert.deepEqual([state === 'open' || state === 'finished', found.held], [true, true]);
    assert.equal((await stateOf('order-1', 'other')).event.held, false);
  });

  test('an event handed over twice is one task, not before its time, and stored once', async () => {
    const { newEvent } = (await load('publish.js')) as Publish;
    const { submitLater } = (await load('tasks.js')) as Tasks;
    const event = newEvent('order-2', 'started');
    const at = new Date(Date.now() + 400);
    const name = await submitLater(client, event, { at });
    assert.equal(await submitLater(client, event, { at }), name);
    assert.equal(tasks.size, 1);
    await submitLater(client, newEvent('order-2', 'paid'), { urgent: true });
    await tasks.waitIdle();
    assert.ok(Date.now() >= at.getTime());
    const rows = await setup.rows(
      "SELECT event_status FROM events_unique WHERE unique_key = 'order-2' ORDER BY ingest_time",
    );
    assert.deepEqual(
      rows.map((row) => row['event_status']),
      ['paid', 'started'],
    );
  });
});
