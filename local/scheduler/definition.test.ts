import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoff } from './definition.ts';

test('a pause doubles, then grows by equal steps, then stays', () => {
  const retry = {
    retryCount: 5,
    minBackoffMs: 10_000,
    maxBackoffMs: 300_000,
    maxDoublings: 3,
    maxRetryDurationMs: 0,
  };
  const seconds = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => backoff(retry, n) / 1000);
  assert.deepEqual(seconds, [10, 20, 40, 80, 160, 240, 300, 300]);
});
