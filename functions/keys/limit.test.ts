import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { eachLimited } from './limit.ts';

test('runs everything, never more at once than allowed, with the results in order', async () => {
  let running = 0;
  let most = 0;
  const results = await eachLimited([...Array(20).keys()], 3, async (item) => {
    most = Math.max(most, ++running);
    for (let turns = item % 4; turns >= 0; turns--) await setImmediate();
    running--;
    return item * 2;
  });
  assert.equal(most, 3);
  assert.deepEqual(
    results,
    Array.from({ length: 20 }, (_, i) => i * 2),
  );
});
