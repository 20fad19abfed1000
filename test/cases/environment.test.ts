import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { restClient } from '../../local/bigquery/fixture.ts';
import { startBigQuery } from '../../local/bigquery/server.ts';
import { ALREADY_EXISTS, INVALID_ARGUMENT, rejects, withFirestore } from '../../local/firestore/fixture.ts';
import { setup as setupPubSub } from '../../local/pubsub/fixture.ts';
import { setup as setupTasks, QUEUE } from '../../local/tasks/fixture.ts';

/** A stand-in that takes what the service refuses hides failures until they are deployed. */

describe('the local cloud is no kinder than the services', () => {
  test('ENV-01: its page lists the differences of each service', () => {
    const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/local-cloud.md'), 'utf8');
    const sections = page.split(/^## /m).slice(1);
    for (const service of ['Pub/Sub', 'Cloud Scheduler', 'Cloud Tasks', 'Firestore', 'BigQuery']) {
      const section = sections.find((one) => one.startsWith(`${service}\n`));
      assert.ok(section !== undefined, `no section ${service}`);
      assert.match(section, /^\| \| Does \| Does not \| Differently from Google \|$/m, service);
      const [, , ...rows] = section.split('\n').filter((line) => line.startsWith('|'));
      const differences = rows.map((row) =>
        row
          .split(/(?<!\\)\|/)
          .at(-2)!
          .trim(),
      );
      assert.ok(differences.filter((cell) => cell !== '').length > 1, `no difference of ${service}`);
    }
    // Where BigQuery itself refuses and the local one does not, the page has to say so.
    assert.match(page, /DML may change young rows/);
  });

  test('ENV-01: Firestore refuses reserved and long ids, and large documents', async () => {
    await withFirestore({}, async (db) => {
      const set = (id: string, data: object) => db.collection('c').doc(id).set(data);
      for (const id of ['.', '..', '__x__', 'x'.repeat(1501)]) await rejects(set(id, {}), INVALID_ARGUMENT);
      await rejects(set('large', { text: 'x'.repeat(2 ** 20) }), INVALID_ARGUMENT);
      await set('good', { text: 'x'.repeat(2 ** 19) });
    });
  });

  test('ENV-01: Pub/Sub refuses large messages, long attributes and messages of nothing', async (t) => {
    const { pubsub } = await setupPubSub(t);
    const [topic] = await pubsub.createTopic('events');
    const publish = (message: object) => topic.publishMessage(message);
    await rejects(publish({ data: Buffer.alloc(10_000_001) }), INVALID_ARGUMENT);
    await rejects(publish({ data: Buffer.from('x'), attributes: { a: 'x'.repeat(1025) } }), INVALID_ARGUMENT);
    await rejects(publish({ data: Buffer.alloc(0) }), INVALID_ARGUMENT);
    await publish({ data: Buffer.from('x'), attributes: { a: 'x'.repeat(1024) } });
  });

  test('ENV-01: Cloud Tasks keeps the name of a deleted task taken, and refuses large tasks', async (t) => {
    const { client, create } = await setupTasks(t);
    const name = `${QUEUE}/tasks/one`;
    const scheduleTime = { seconds: 3600 + Math.floor(Date.now() / 1000) };
    await create({ name, scheduleTime });
    await client.deleteTask({ name });
    await rejects(create({ name, scheduleTime }), ALREADY_EXISTS);
    await rejects(create({ httpRequest: { body: Buffer.alloc(2 ** 20) } }), INVALID_ARGUMENT);
  });

  test('ENV-01: BigQuery refuses NULL in arrays, times that it cannot hold or partition, and large rows', async (t) => {
    const server = await startBigQuery();
    t.after(() => server.stop());
    const client = restClient(server);
    await client.createDataset('ds');
    const fields = [
      { name: 'at', type: 'TIMESTAMP' },
      { name: 'names', type: 'STRING', mode: 'REPEATED' },
    ];
    const timePartitioning = { type: 'DAY', field: 'at' };
    const [table] = await client.dataset('ds').createTable('events', { schema: { fields }, timePartitioning });
    const insert = (row: object) => table.insert([row], { partialRetries: 0 });
    await assert.rejects(insert({ names: ['a', null] }));
    await assert.rejects(insert({ at: '9999-12-31T23:59:59.9999999+00:00' }));
    await assert.rejects(insert({ at: '10000-01-01T00:00:00Z' }));
    await assert.rejects(insert({ at: '9999-12-31T23:59:59Z' }), 'out of the range of streaming');
    await assert.rejects(insert({ names: ['x'.repeat(10 * 2 ** 20)] }));
    await insert({ at: null, names: ['a'] });
  });
});
