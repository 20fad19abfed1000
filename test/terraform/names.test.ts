import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { joinsOf, leftOut } from '../../local/joins.ts';
import * as local from '../../local/resources.ts';
import { namesInSettings, otherDefaults, settingProblems, wakeIndexProblems } from './names.ts';
import { withoutTerraform, Workspace, type Plan } from './terraform.ts';

/** The cloud and the local cloud are the same by name, and the functions are told so. */

describe('names', { skip: withoutTerraform }, () => {
  let workspace: Workspace;
  let plan: Plan;
  before(async () => {
    workspace = await new Workspace().open();
    plan = await workspace.plan();
  });
  after(() => workspace.close());

  const keys = (type: string, name: string) => plan.of(type, name).map((r) => r.key);
  const names = (type: string, attribute: string) => plan.of(type).map((r) => String(r.after[attribute]));

  test('every variable that the code reads is set or free, and the other way round', () => {
    assert.deepEqual(settingProblems(plan, workspace.module), []);
  });

  test('names that the functions are given are names that exist', () => {
    assert.deepEqual(namesInSettings(plan), []);
  });

  test('without a prefix they are the defaults of the settings, and those of the local cloud', () => {
    assert.deepEqual(otherDefaults(plan), []);
    assert.deepEqual(names('google_firestore_database', 'name'), [local.DATABASE]);
    assert.deepEqual(names('google_cloud_tasks_queue', 'name').sort(), Object.keys(local.QUEUES).sort());
  });

  test('topics and subscriptions', () => {
    assert.deepEqual(names('google_pubsub_topic', 'name').sort(), [...local.TOPICS, local.WATCHES.topic].sort());
    const pushes = [...local.PUSH, local.WATCHES];
    const subscriptions = [...pushes.map((push) => push.name), local.DEAD_LETTERS_SUBSCRIPTION];
    assert.deepEqual(names('google_pubsub_subscription', 'name').sort(), subscriptions.sort());
    for (const { name, topic, target } of pushes) {
      assert.equal(name, `${topic}-${target}`);
      const push = plan.of('google_pubsub_subscription', 'push').find((r) => r.key === topic)!;
      assert.equal(push.after['ack_deadline_seconds'], local.ACK_DEADLINE_SECONDS);
      assert.equal(push.after['message_retention_duration'], `${local.RETENTION_SECONDS}s`);
    }
  });

  test('dataset, tables and views', () => {
    assert.deepEqual(names('google_bigquery_dataset', 'dataset_id'), [local.DATASET]);
    const tables = local.tables();
    assert.deepEqual(keys('google_bigquery_table', 'table').sort(), tables.map((t) => t.name).sort());
    assert.deepEqual(keys('google_bigquery_table', 'view').sort(), local.views().map((v) => v.name).sort()); // prettier-ignore
    for (const table of tables) {
      const { after: planned } = plan.of('google_bigquery_table', 'table').find((r) => r.key === table.name)!;
      assert.deepEqual(JSON.parse(String(planned['schema'])), table.schema, table.name);
      const [partitioning] = (planned['time_partitioning'] ?? []) as { field?: string }[];
      assert.equal(partitioning?.field, table.partition, table.name);
    }
  });

  test('every schema is a table, every join has a job', () => {
    const files = readdirSync(path.join(workspace.module, 'schemas')).map((file) => path.basename(file, '.json'));
    assert.deepEqual(keys('google_bigquery_table', 'table').sort(), files.sort());
    assert.deepEqual(keys('google_cloud_scheduler_job', 'join').sort(), readdirSync(path.join(workspace.root, 'joins')).sort()); // prettier-ignore
  });

  test('every join has its view of what it left out, with the same query in both worlds', () => {
    const joins = joinsOf(workspace.root);
    const planned = plan.of('google_bigquery_table', 'left_out').map(({ after: view }) => {
      const [{ query }] = view['view'] as [{ query: string }];
      const project = /FROM `([^.`]+)\./.exec(query)![1]!;
      return { name: view['table_id'], query: query.replaceAll(`\`${project}.`, `\`${local.PROJECT}.`) };
    });
    assert.deepEqual(planned, joins.map(leftOut));
  });

  test('every view has the same query in both worlds, whatever is set', async () => {
    const settings = { SILENCE_DEADLINE: '48h', STATE_RETENTION: '50d' };
    const other = await workspace.plan({
      settings,
      bigquery: { events_expiration_days: 400, summaries_expiration_days: 90 },
    });
    const queries = (planned: Plan) =>
      planned
        .of('google_bigquery_table', 'view')
        .map(({ after: view }) => (view['view'] as [{ query: string }])[0].query.replaceAll('`demo-project.', `\`${local.PROJECT}.`)); // prettier-ignore
    const expected = (views: readonly { readonly query: string }[]) => views.map(({ query }) => query);
    assert.deepEqual(queries(plan), expected(local.views()));
    assert.deepEqual(queries(other), expected(local.views(settings, { events_days: 400, summaries_days: 90 })));
  });

  test('what the sweep searches is indexed', () => assert.deepEqual(wakeIndexProblems(plan), []));
});
