import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TransientError } from '../../functions/core/errors.ts';
import { readState, sequencePath } from '../../functions/keys/documents.ts';
import { START } from '../fakes/clock.ts';
import { Handlers } from './handlers.ts';

/** What keys have for timers: a wake-up in their state. The cases that other systems failed at. */

const MINUTE = 60e6;
const HOUR = 60 * MINUTE;
const KEY = 'order_001';
const PATH = sequencePath(KEY);

const event = (id: string, status: string, changes: object = {}) => ({
  event_id: id,
  unique_key: KEY,
  event_status: status,
  timestamp: '2024-01-05T10:00:00Z',
  join_key: 'cust_7',
  payload: { amount: 10 },
  ...changes,
});
const wakeAt = (cloud: Handlers) => readState(cloud.store.read(PATH))!.wakeAt;
const wakeUps = (cloud: Handlers) =>
  [...cloud.store.dump().values()].filter(({ wake_at: at }) => typeof at === 'number');

describe('timers of keys', () => {
  test('TMR-01: after a timer fired, the next event has one again, whatever was used before', async () => {
    const cloud = new Handlers(START);
    assert.equal(await cloud.ingest(event('e-1', 'started')), 204);
    await cloud.pass(25 * HOUR, HOUR);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 expired']);
    assert.equal(wakeAt(cloud), null);
    assert.equal(await cloud.ingest(event('e-2', 'processing')), 204);
    assert.equal(wakeAt(cloud), cloud.clock.now() + 24 * HOUR);
    await cloud.pass(25 * HOUR, HOUR);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 expired', '2 expired']);
  });

  test('TMR-02: a timer that fires twice, early, or for a key that is gone is acknowledged and does nothing', async () => {
    const cloud = new Handlers(START);
    await cloud.ingest(event('e-1', 'started'));
    assert.deepEqual(await cloud.hint(KEY, 2), [204, 204]);
    assert.deepEqual(cloud.summariesOf(KEY), []);
    await cloud.ingest(event('e-2', 'completed'));
    assert.deepEqual(await cloud.hint(KEY, 2), [204, 204]);
    assert.deepEqual(await cloud.hint(KEY, 2), [204, 204]);
    assert.equal(cloud.summaries.commits.length, 1);
    assert.equal(cloud.bus.published('summaries').length, 1);
    assert.equal(cloud.store.expire(cloud.clock.now() + 36 * 24 * HOUR), 1);
    assert.deepEqual(await cloud.hint(KEY, 2), [204, 204]);
    assert.equal(cloud.summaries.commits.length, 1);
    assert.equal(cloud.store.dump().size, 0);
  });

  test('TMR-04: with a payload of 300 kB the hint still holds no more than the key', async () => {
    const cloud = new Handlers(START);
    const payload = { text: 'x'.repeat(300_000) };
    assert.equal(await cloud.ingest(event('e-1', 'completed', { payload })), 204);
    const [hint] = cloud.bus.published('completions');
    assert.deepEqual(JSON.parse(hint!.data as string), { unique_key: KEY });
    assert.ok(JSON.stringify(hint).length < 500);
    await cloud.deliverHints();
    assert.deepEqual(cloud.summariesOf(KEY), ['1 finished']);
    assert.equal(cloud.events.commits[0]!.row.payload, JSON.stringify(payload));
  });

  test('TMR-05: two that act on one timer at once: one summary', async () => {
    const cloud = new Handlers(START);
    await cloud.ingest(event('e-1', 'started'));
    cloud.clock.advance(24 * HOUR);
    await Promise.all([cloud.sweep(), cloud.sweep()]);
    const answers = await cloud.hint(KEY, 2);
    await cloud.deliverHints(2);
    await cloud.pass(HOUR, MINUTE);
    assert.ok(answers.includes(204));
    assert.deepEqual(cloud.summariesOf(KEY), ['1 expired']);
    assert.equal(wakeAt(cloud), null);
  });

  test('TMR-07: a key that never gets on is tried ever more rarely, and reported after 20 times', async () => {
    const cloud = new Handlers(START);
    await cloud.ingest(event('e-1', 'completed'));
    cloud.onCall = ({ port }) => {
      if (port === 'summaries') throw new TransientError('unavailable', 'down');
    };
    const stuck = () => cloud.logged.filter((line) => line.event === 'sweep.stuck');
    await cloud.pass(12 * HOUR, 5 * MINUTE);
    assert.equal(stuck().length, 0);
    await cloud.pass(12 * HOUR, 5 * MINUTE);
    assert.ok(stuck().length >= 1, 'reported');
    const [line] = stuck();
    assert.deepEqual([line!['severity'], line!['name'], line!['attempts']], ['ERROR', KEY, 20]);
    const { attempts } = readState(cloud.store.read(PATH))!;
    assert.ok(attempts >= 20 && attempts <= 32, `woken ${attempts} times in a day`);
    cloud.onCall = () => undefined;
    await cloud.pass(2 * HOUR, 5 * MINUTE);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 finished']);
    assert.equal(wakeAt(cloud), null);
  });

  test('TMR-08: the hint could not be sent: the sweep finds the key without anybody asking', async () => {
    const cloud = new Handlers(START);
    let failures = 0;
    cloud.onCall = ({ port }) => {
      if (port === 'bus' && failures++ === 0) throw new TransientError('deadline_exceeded', 'DEADLINE_EXCEEDED');
    };
    const status = await cloud.ingest(event('e-1', 'completed'));
    assert.equal(failures, 1);
    assert.ok(status === 204 || status >= 500, String(status));
    assert.notEqual(wakeAt(cloud), null, 'the state holds the wake-up');
    assert.equal(cloud.bus.published('completions').length, 0);
    await cloud.pass(3 * MINUTE, MINUTE);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 finished']);
    assert.equal(await cloud.ingest(event('e-1', 'completed')), 204);
    await cloud.pass(HOUR, MINUTE);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 finished']);
  });

  test('TMR-10: an event of years ago waits from its arrival on, not from its own time', async () => {
    const cloud = new Handlers(START);
    assert.equal(await cloud.ingest(event('e-1', 'started', { timestamp: '2020-01-01T00:00:00Z' })), 204);
    assert.equal(wakeAt(cloud), START + 24 * HOUR);
    await cloud.pass(23 * HOUR, HOUR);
    assert.deepEqual(cloud.summariesOf(KEY), []);
    await cloud.pass(2 * HOUR, HOUR);
    assert.deepEqual(cloud.summariesOf(KEY), ['1 expired']);
  });

  test('TMR-11: twenty events of a key: one wake-up, which moves when it fires', async () => {
    const cloud = new Handlers(START);
    for (let i = 1; i <= 20; i++) {
      assert.equal(await cloud.ingest(event(`e-${i}`, 'processing')), 204);
      cloud.clock.advance(HOUR / 2);
    }
    const last = cloud.clock.now() - HOUR / 2;
    assert.equal(wakeUps(cloud).length, 1);
    assert.equal(wakeAt(cloud), START + 24 * HOUR, 'not written again by each event');
    cloud.clock.set(START + 24 * HOUR);
    await cloud.sweep();
    await cloud.deliverHints();
    assert.deepEqual(cloud.summariesOf(KEY), []);
    assert.equal(wakeAt(cloud), last + 24 * HOUR);
    assert.equal(wakeUps(cloud).length, 1);
  });
});
