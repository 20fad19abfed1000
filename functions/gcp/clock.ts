import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../ports.ts';

/** The machine's clock. Event times and deadlines need no more than its milliseconds. */
export function createClock(): Clock {
  return {
    now: () => Date.now() * 1000,
    sleep: (ms, signal) => delay(ms, undefined, { ref: false, ...(signal === undefined ? {} : { signal }) }),
  };
}
