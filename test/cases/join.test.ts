import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { PubSub } from '@google-cloud/pubsub';
import { loadConfig } from '../../functions/config.ts';
import { createBus } from '../../functions/gcp/pubsub-bus.ts';
import { createEventsTable } from '../../functions/gcp/storage-write.ts';
import { runJoin } from '../../functions/join/run.ts';
import { startPubSub } from '../../local/pubsub/server.ts';
import { DATASET, PROJECT } from '../../local/resources.ts';
import { Faults } from '../../local/shared/faults.ts';
import { JoinCloud } from '../join/cloud.ts';
import { Handlers } from '../keys/handlers.ts';
import { event, KEY } from './event.ts';

/** How joins failed elsewhere around what they read and where they publish. How their cursors did: test/join. */

process.env['METADATA_SERVER_DETECTION'] = 'none';

const folder = path.resolve(import.meta.dirname, '../../joins/enrich');
const QUERY = readFileSync(path.join(folder, 'query.sql'), 'utf8');
const FILE = JSON.parse(readFileSync(path.join(folder, 'join.json'), 'utf8')) as Record<string, unknown>;

async function start(t: TestContext) {
  const cloud = await JoinCloud.start();
  t.after(() => cloud.stop());
  const join = cloud.join('enrich', QUERY, { ...FILE, topic: 'results' });
  await cloud.reference('cust_7', 'Seven');
  await cloud.tick(join);
  return { cloud, join };
}

test('BQ-20: no statement changes the table that is streamed into; the one MERGE changes the ledger', async (t) => {
  const { cloud, join } = await start(t);
  const config = loadConfig({
    PROJECT_ID: PROJECT,
    DATASET,
    BIGQUERY_STORAGE_EMULATOR_HOST: cloud.bigquery.grpcAddress,
  });
  const clock = { now: () => cloud.now, sleep: () => new Promise<void>(() => undefined) };
  const keys = new Handlers(cloud.now, {}, createEventsTable({ config, clock, log: () => undefined }));
  for (const [id, status] of [['e-1', 'started'], ['e-2', 'completed']] as const) {
    assert.equal(await keys.ingest(event(id, status)), 204);
  } // prettier-ignore
  cloud.advance(120);
  // The rows are minutes old: BigQuery still has them in its buffer.
  await cloud.tick(join);
  await keys.deliverHints();
  assert.equal(cloud.results().length, 2);
  assert.deepEqual(keys.summariesOf(KEY), ['1 finished']);

  const [jobs] = await cloud.client.getJobs();
  const statements = await Promise.all(jobs.map(async (job) => ((await job.getMetadata()) as unknown[])[0] as Job));
  const kinds = new Set<string>();
  for (const { statistics, configuration } of statements) {
    const { statementType } = statistics.query;
    kinds.add(statementType);
    if (statementType === 'SELECT') continue;
    assert.equal(statementType, 'MERGE');
    assert.match(configuration.query.query, /^MERGE `[\w-]+\.codaflow\.joined` /);
  }
  assert.deepEqual([...kinds].sort(), ['MERGE', 'SELECT']);
});

interface Job {
  readonly statistics: { readonly query: { readonly statementType: string } };
  readonly configuration: { readonly query: { readonly query: string } };
}

test(
  'PUB-08: a run ends only after Pub/Sub confirmed every message, however long that takes',
  { timeout: 60_000 },
  async (t) => {
    const { cloud, join } = await start(t);
    const faults = new Faults(({ method }) => (method === 'Publish' ? { kind: 'delay', ms: 200 } : undefined));
    const server = await startPubSub({ faults });
    const client = new PubSub({ projectId: PROJECT, apiEndpoint: server.address, emulatorMode: true });
    t.after(async () => {
      await client.close();
      await server.stop();
    });
    const [topic] = await client.createTopic('results');
    const [subscription] = await topic.createSubscription('results-pull');
    await cloud.insert(...Array.from({ length: 10 }, (_, i) => ({ event_id: `e-${i}` })));
    cloud.advance(120);
    const before = cloud.store.read('cursors/enrich')!['position'];
    const context = cloud.context(join, { PUBSUB_EMULATOR_HOST: server.address, JOIN_PAGE: '4' });
    const { outcome } = await runJoin({ ...context, ports: { ...context.ports, bus: createBus(context) } });
    const held = server.backlog(subscription.name);
    // What is still under way must not outlive the server.
    while (server.backlog(subscription.name) < 10) await new Promise(setImmediate);
    assert.equal(outcome, 'done');
    assert.equal(held, 10, 'Pub/Sub held them before the run ended');
    assert.notEqual(cloud.store.read('cursors/enrich')!['position'], before);
  },
);
