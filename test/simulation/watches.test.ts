import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { START } from '../fakes/clock.ts';
import { is, once, outcomesOf, play, watchFor } from './story.ts';

describe('a watch under faults', () => {
  it('what becomes ready before the timeout is ready, even where a look before it answers after it', async () => {
    const world = await play({
      messages: [watchFor('w1', { readyAt: 55_000, interval: 50, timeout: 60 })],
      // Begun at 48 s and answered when the watch is over.
      fault: once(is('poll probes.http'), { kind: 'answered late', ms: 35_000 }, 2),
    });
    assert.deepEqual(outcomesOf(world), ['ready']);
    assert.ok(world.clock.now() > START);
  });
});
