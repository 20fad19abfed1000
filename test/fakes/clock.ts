import type { Micros } from '../../functions/core/event.ts';
import { End } from '../../functions/end.ts';
import type { Clock, Ids } from '../../functions/ports.ts';

export interface FakeClock extends Clock {
  /** Moves the time and wakes whoever slept until then, in the order of their times. */
  advance(micros: Micros): void;
  set(now: Micros): void;
  /** The next moment somebody sleeps until; null when nobody does. */
  nextSleeper(): Micros | null;
}

interface Sleeper {
  readonly until: Micros;
  readonly wake: () => void;
}

/** 2024-01-05T10:00:00Z. */
export const START: Micros = 1_704_448_800_000_000;

/** A clock that stands still until it is moved. */
export function fakeClock(start: Micros = START): FakeClock {
  let now = start;
  let sleepers: Sleeper[] = [];

  function set(to: Micros): void {
    now = to;
    const woken = sleepers.filter(({ until }) => until <= now).sort((a, b) => a.until - b.until);
    sleepers = sleepers.filter(({ until }) => until > now);
    for (const { wake } of woken) wake();
  }

  return {
    now: () => now,
    set,
    advance: (micros) => set(now + micros),
    nextSleeper: () => (sleepers.length === 0 ? null : Math.min(...sleepers.map(({ until }) => until))),
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        const sleeper: Sleeper = { until: now + ms * 1000, wake: resolve };
        const abort = () => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          reject(signal!.reason as Error);
        };
        if (signal?.aborted === true) return abort();
        signal?.addEventListener('abort', abort, { once: true });
        if (ms <= 0) return resolve();
        sleepers.push(sleeper);
      });
    },
  };
}

/** The end of a request that begins now, by the defaults of the settings. */
export function requestEnd(clock: Clock): End {
  return End.ofRequest(clock, { requestBudget: 55e6, portDeadline: 10e6 });
}

/** Ids in a fixed sequence: 32 hexadecimal digits that count up. */
export function fakeIds(): Ids {
  let n = 0;
  return { random: () => (n++).toString(16).padStart(32, '0') };
}
