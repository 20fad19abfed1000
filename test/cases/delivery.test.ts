import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadConfig } from '../../functions/config.ts';
import { TransientError } from '../../functions/core/errors.ts';
import { FakeTime } from '../../local/shared/fake-time.ts';
import { name, setup, type Fixture } from '../../local/pubsub/fixture.ts';
import { RETENTION_SECONDS } from '../../local/resources.ts';
import { START } from '../fakes/clock.ts';
import { Handlers } from '../keys/handlers.ts';
import { event, HOUR, KEY, published, reasons, stateOf } from './event.ts';

/** How deliveries and the state of keys failed elsewhere: through the local Pub/Sub, or handed over directly. */

const ids = (cloud: Handlers) => cloud.events.commits.map(({ row }) => row.event_id);
const SUBSCRIPTION = name('subscriptions', 'events-ingest');

/** A topic whose pushes the function answers. */
async function subscribe({ pubsub, receiver }: Fixture, options: object) {
  const [topic] = await pubsub.createTopic('events');
  await topic.createSubscription('events-ingest', { pushConfig: { pushEndpoint: receiver.url }, ...options });
  return topic;
}

/** Lets the function answer the next push. */
async function serve({ receiver }: Fixture, cloud: Handlers): Promise<number> {
  const arrival = await receiver.next();
  const status = await cloud.post(JSON.parse(arrival.body));
  arrival.answer(status);
  return status;
}

/** The state of keys cannot be written. */
function storeIsDown(cloud: Handlers): void {
  cloud.onCall = ({ port, method }) => {
    if (port === 'store' && method === 'commit') throw new TransientError('unavailable', 'UNAVAILABLE');
  };
}

describe('deliveries', () => {
  test('PUB-02: what failed is not acknowledged, and the second delivery succeeds', async () => {
    const cloud = new Handlers(START);
    storeIsDown(cloud);
    assert.equal(await cloud.ingest(event('e-1', 'started')), 503);
    assert.equal(cloud.store.dump().size, 0);
    cloud.onCall = () => undefined;
    assert.equal(await cloud.ingest(event('e-1', 'started')), 204);
    assert.equal(stateOf(cloud).fold.count, 1);
    assert.deepEqual(reasons(cloud), []);
  });

  test('PUB-04: a poison message does not stop the messages behind it under its ordering key', async (t) => {
    const all = await setup(t);
    const cloud = new Handlers(START);
    const topic = await subscribe(all, { enableMessageOrdering: true });
    topic.setPublishOptions({ messageOrdering: true });
    for (const data of ['{bad', JSON.stringify(event('e-1', 'started'))]) {
      await topic.publishMessage({ data: Buffer.from(data), orderingKey: KEY });
    }
    assert.deepEqual([await serve(all, cloud), await serve(all, cloud)], [204, 204]);
    await all.server.waitIdle();
    assert.equal(all.server.backlog(SUBSCRIPTION), 0);
    assert.deepEqual(ids(cloud), ['e-1']);
    assert.deepEqual(reasons(cloud), ['invalid_json']);
    assert.equal(cloud.bus.published('deadLetters')[0]!.attributes['ordering_key'], KEY);
  });

  test('PUB-05: a failure that never ends: ever longer pauses, then a dead letter with its cause', async (t) => {
    const time = new FakeTime();
    const all = await setup(t, { time });
    const cloud = new Handlers(START, { MAX_DELIVERY_ATTEMPTS: '5' });
    storeIsDown(cloud);
    const [dead] = await all.pubsub.createTopic('dead-letters');
    const retryPolicy = { minimumBackoff: { seconds: 10 }, maximumBackoff: { seconds: 600 } };
    const deadLetterPolicy = { deadLetterTopic: dead.name, maxDeliveryAttempts: 5 };
    const topic = await subscribe(all, { retryPolicy, deadLetterPolicy });
    const data = Buffer.from(JSON.stringify(event('e-1', 'started')));
    await topic.publishMessage({ data });
    for (const [failed, pause] of [10_000, 20_000, 40_000, 80_000].entries()) {
      assert.equal(await serve(all, cloud), 503);
      while (all.server.meter.get('pubsub.failed_deliveries') <= failed) await new Promise(setImmediate);
      time.advance(pause - 1);
      assert.equal(all.receiver.count, failed + 1, 'not before its pause');
      time.advance(1);
    }
    assert.equal(await serve(all, cloud), 204);
    await all.server.waitIdle();
    assert.equal(all.server.backlog(SUBSCRIPTION), 0);
    const [letter] = cloud.bus.published('deadLetters');
    assert.deepEqual(Buffer.from(letter!.data as Uint8Array), data);
    const { reason, cause, delivery_attempt } = letter!.attributes;
    assert.deepEqual([reason, cause, delivery_attempt], ['delivery_attempts_exhausted', 'unavailable', '5']);
  });
});

describe('the state of keys', () => {
  test('FS-01: keys with slashes, their escaped and their flattened forms are three documents, each with its key', async () => {
    const cloud = new Handlers(START);
    const keys = ['AS98/2015-01-01/ANC-SEA', 'AS98%2F2015-01-01%2FANC-SEA', 'AS98_2015-01-01_ANC-SEA'];
    for (const unique_key of keys) assert.equal(await cloud.ingest(event('e-1', 'started', { unique_key })), 204);
    const documents = [...cloud.store.dump()];
    assert.equal(documents.length, 3);
    for (const [path] of documents) assert.match(path, /^sequences\/[^/]+$/);
    assert.deepEqual(documents.map(([, one]) => one['key']).sort(), [...keys].sort());
    for (const key of keys) assert.equal(stateOf(cloud, key).fold.count, 1);
  });

  test('FS-07: an event that does not mention a member erases nothing of it', async () => {
    const cloud = new Handlers(START, { SUMMARY_FIELDS: '/amount,/note' });
    await cloud.ingest(event('e-1', 'started', { payload: { amount: 10, note: 'first' } }));
    const before = stateOf(cloud).fold.fields;
    const { join_key: _, payload: __, ...bare } = event('e-2', 'processing');
    assert.equal(await cloud.ingest(bare), 204);
    assert.deepEqual(stateOf(cloud).fold.fields, before);
    // The join key is no part of the state: each row keeps its own.
    assert.deepEqual(
      cloud.events.commits.map(({ row }) => row.join_key),
      ['cust_7', null],
    );
    await cloud.ingest({ ...bare, event_id: 'e-3', event_status: 'completed' });
    await cloud.deliverHints();
    const fields = JSON.parse(cloud.summaries.commits[0]!.row.fields!) as Record<string, Record<string, unknown>>;
    assert.deepEqual([fields['/amount']!['sum'], fields['/note']!['last']], [10, 'first']);
  });

  test('FS-11: a transaction that is run again repeats no effect: one row, one hint, one summary', async () => {
    const cloud = new Handlers(START);
    assert.equal(await cloud.ingest(event('e-1', 'started')), 204);
    let aborted = 0;
    cloud.onCall = ({ port, method }) => {
      if (port !== 'store' || method !== 'commit' || aborted > 0) return;
      aborted++;
      throw new TransientError('contention', 'ABORTED');
    };
    assert.equal(await cloud.ingest(event('e-2', 'completed')), 204);
    assert.equal(aborted, 1);
    assert.deepEqual(ids(cloud), ['e-1', 'e-2']);
    assert.equal(cloud.bus.published('completions').length, 1);
    // The transactions of the summary, too.
    aborted = 0;
    await cloud.deliverHints();
    assert.equal(aborted, 1);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 finished']);
    assert.deepEqual([cloud.summaries.commits.length, published(cloud).length], [1, 1]);
  });

  test('FS-13: identities are remembered longer than any subscription keeps or replays messages', async () => {
    const cloud = new Handlers(START);
    const message = { data: JSON.stringify(event('e-1', 'started')), messageId: 'm1' };
    assert.equal(await cloud.deliver(message), 204);
    await cloud.pass(604_740e6, HOUR);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 expired']);
    assert.equal(cloud.store.expire(cloud.clock.now()), 0);
    assert.equal(await cloud.deliver(message), 204);
    assert.equal(stateOf(cloud).fold.count, 1);
    await cloud.pass(48 * HOUR, HOUR);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 expired']);
    const { retention } = loadConfig({ PROJECT_ID: 'local-project' });
    assert.ok(retention > RETENTION_SECONDS * 1e6 && retention > 31 * 24 * HOUR);
  });
});
