import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SummaryRow } from '../../functions/core/event.ts';
import { START } from '../fakes/clock.ts';
import { Handlers } from '../keys/handlers.ts';
import { event, HOUR, KEY, MINUTE, published, stateOf } from './event.ts';

/** How results of keyed events went wrong elsewhere: once, complete, and the same whatever the order. */

const at = (time: string) => ({ timestamp: `2024-01-05T${time}:00Z` });

/** The last summary of the key. */
const last = (cloud: Handlers): SummaryRow => cloud.summaries.commits.at(-1)!.row;

/** Each event is delivered and acknowledged, and its hint acted upon, before the next one. */
async function deliver(cloud: Handlers, ...events: readonly object[]): Promise<void> {
  for (const one of events) {
    assert.equal(await cloud.ingest(one), 204);
    await cloud.deliverHints();
  }
}

describe('finishing', () => {
  test('FIN-01: a completion that comes first has its summary at once, and one correction with all events', async () => {
    const cloud = new Handlers(START);
    const first = event('e-3', 'completed', at('10:02'));
    await deliver(cloud, first, event('e-2', 'processing', at('10:01')), event('e-1', 'started'));
    assert.deepEqual(cloud.summariesOf(KEY), ['1 finished']);
    await cloud.pass(HOUR, MINUTE);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 finished', '2 finished']);
    const { total_steps, final_status, duration_seconds, steps } = last(cloud);
    assert.deepEqual([total_steps, final_status, duration_seconds], [3, 'completed', 120]);
    assert.deepEqual(
      steps.map((step) => step.event_id),
      ['e-1', 'e-2', 'e-3'],
    );
    assert.equal(new Set(published(cloud)).size, 2);
  });

  test('FIN-02: a stale status after the end leaves the key finished, and is counted as late', async () => {
    const cloud = new Handlers(START);
    await deliver(cloud, event('e-1', 'started'), event('e-3', 'completed', at('10:02')));
    await deliver(cloud, event('e-2', 'processing', at('10:01')));
    await cloud.pass(HOUR, MINUTE);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 finished', '2 finished']);
    const { final_status, total_steps, late_events } = last(cloud);
    assert.deepEqual([final_status, total_steps, late_events], ['completed', 3, 1]);
    assert.equal(cloud.events.commits.length, 3);
  });

  test('FIN-04: a completion that is delivered three times at once gives one summary', async () => {
    const cloud = new Handlers(START);
    await deliver(cloud, event('e-1', 'started'));
    const completed = event('e-2', 'completed');
    const answers = await Promise.all([1, 2, 3].map(() => cloud.ingest(completed)));
    assert.deepEqual(answers, [204, 204, 204]);
    await cloud.hint(KEY, 3);
    await cloud.deliverHints(3);
    await cloud.pass(HOUR, MINUTE);
    assert.equal(cloud.summaries.commits.length, 1);
    assert.equal(published(cloud).length, 1);
  });

  test('FIN-05: a second completion event is a correction under an id of its own', async () => {
    const cloud = new Handlers(START);
    await deliver(cloud, event('e-1', 'started'), event('e-2', 'completed', at('10:01')));
    await deliver(cloud, event('e-3', 'completed', at('10:05')));
    await cloud.pass(HOUR, MINUTE);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 finished', '2 finished']);
    const ids = published(cloud);
    assert.deepEqual([ids.length, new Set(ids).size], [2, 2]);
    assert.deepEqual([last(cloud).total_steps, last(cloud).duration_seconds], [3, 300]);
  });

  test('FIN-07: a key that starts twice lasts from its first start', async () => {
    const cloud = new Handlers(START);
    await deliver(cloud, event('e-1', 'started'), event('e-2', 'started', at('10:30')));
    await deliver(cloud, event('e-3', 'completed', at('11:00')));
    assert.equal(cloud.summaries.commits.length, 1);
    assert.equal(last(cloud).duration_seconds, 3600);
  });

  test('FIN-08: repeats are counted once, also under another message id', async () => {
    const cloud = new Handlers(START, { SUMMARY_FIELDS: '/amount' });
    const data = JSON.stringify(event('e-1', 'started'));
    for (const messageId of ['m1', 'm1', 'm9']) assert.equal(await cloud.deliver({ data, messageId }), 204);
    await deliver(cloud, event('e-2', 'completed'));
    assert.deepEqual(cloud.summariesOf(KEY), ['1 finished']);
    assert.equal(last(cloud).total_steps, 2);
    const fields = JSON.parse(last(cloud).fields!) as Record<string, Record<string, unknown>>;
    assert.equal(fields['/amount']!['sum'], 20);
    assert.equal(fields['/amount']!['count'], 2);
  });

  test('FIN-10: a key that never completes expires once and is left alone', async () => {
    const cloud = new Handlers(START);
    await deliver(cloud, event('e-1', 'started'));
    cloud.clock.advance(90_000e6);
    await cloud.sweep();
    await cloud.deliverHints(2);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 expired']);
    assert.equal(stateOf(cloud).wakeAt, null);
    await cloud.pass(72 * HOUR, HOUR);
    assert.equal(cloud.summaries.commits.length, 1);
    assert.equal(published(cloud).length, 1);
  });

  test('FIN-11: a completion after the key expired finishes it; the revision before says that it had expired', async () => {
    const cloud = new Handlers(START);
    await deliver(cloud, event('e-1', 'started'));
    cloud.clock.advance(90_000e6);
    await cloud.sweep();
    await cloud.deliverHints();
    await deliver(cloud, event('e-2', 'completed', { timestamp: '2024-01-07T10:00:00Z' }));
    await cloud.pass(72 * HOUR, HOUR);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 expired', '2 finished']);
    const { revision, total_steps, late_events, complete, duration_seconds } = last(cloud);
    assert.deepEqual([revision, total_steps, late_events, complete, duration_seconds], [2, 2, 1, true, 172_800]);
  });

  test('FIN-14: a finisher that dies after publishing: whoever goes on publishes the same id and content', async () => {
    const cloud = new Handlers(START);
    await deliver(cloud, event('e-1', 'started'));
    let isPublished = false;
    cloud.onCall = ({ port, method, resource }) => {
      isPublished ||= port === 'bus' && resource === 'summaries';
      if (isPublished && port === 'store' && method === 'commit') throw new Error('crashed');
    };
    assert.equal(await cloud.ingest(event('e-2', 'completed')), 204);
    await cloud.deliverHints();
    assert.equal(published(cloud).length, 1);
    assert.notEqual(stateOf(cloud).claim, null, 'published, not confirmed');
    cloud.onCall = () => undefined;
    assert.equal(await cloud.ingest(event('e-2', 'completed')), 204);
    await cloud.deliverHints();
    await cloud.pass(HOUR, MINUTE);
    const messages = cloud.bus.published('summaries');
    assert.equal(messages.length, 2);
    assert.deepEqual(messages[1], messages[0]);
    assert.equal(stateOf(cloud).confirmed, 2);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 finished']);
  });
});
