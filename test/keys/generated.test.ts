import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { documentId } from '../../functions/core/ids.ts';
import { START } from '../fakes/clock.ts';
import { sizeOf } from '../fakes/store.ts';
import { Handlers } from './handlers.ts';

/** Recipes for big inputs that broke other systems. */
describe('many and large events', () => {
  test('PUB-11: 5,000 events of 4 kB and a completion give one bounded summary, no retry', async () => {
    const cloud = new Handlers(START);
    const event = (id: string, status: string) => ({
      event_id: id,
      unique_key: 'order_big',
      event_status: status,
      timestamp: '2024-01-05T10:00:00Z',
      payload: { text: 'x'.repeat(4000) },
    });
    const ids = Array.from({ length: 5000 }, (_, i) => `e-${i}`);
    for (let i = 0; i < ids.length; i += 100) {
      const answers = await Promise.all(ids.slice(i, i + 100).map((id) => cloud.ingest(event(id, 'processing'))));
      assert.ok(answers.every((status) => status === 204));
    }
    assert.equal(await cloud.ingest(event('last', 'completed')), 204);
    await cloud.deliverHints();
    assert.deepEqual(cloud.summariesOf('order_big'), ['1 finished']);
    const [message] = cloud.bus.published('summaries');
    assert.ok(Buffer.byteLength(message!.data) < 256 * 1024);
    const { total_steps, steps } = JSON.parse(message!.data as string) as { total_steps: number; steps: object[] };
    assert.equal(total_steps, 5001);
    // The list is cut; that it is shorter than the total says so.
    assert.ok(steps.length <= 200);
    for (const document of cloud.store.dump().values()) assert.ok(sizeOf(document) < 256 * 1024);
  });

  test("FS-10: of 200 keys with 3 events each no document is written but by its own key's events", async () => {
    const cloud = new Handlers(START);
    const keys = Array.from({ length: 200 }, (_, i) => `order_${i}`);
    const written = new Map<string, number>();
    cloud.store.onCommit = (changes) => {
      for (const path of changes.keys()) written.set(path, (written.get(path) ?? 0) + 1);
    };
    const events = keys.flatMap((key) => [0, 1, 2].map((n) => ({ key, n })));
    const answers = await Promise.all(
      events.map(({ key, n }) =>
        cloud.ingest({
          event_id: `e-${n}`,
          unique_key: key,
          event_status: 'started',
          timestamp: '2024-01-05T10:00:00Z',
        }),
      ),
    );
    assert.ok(answers.every((status) => status === 204));
    assert.deepEqual([...written.keys()].sort(), keys.map((key) => `sequences/${documentId(key)}`).sort());
    assert.ok([...written.values()].every((times) => times <= 3));
  });
});
