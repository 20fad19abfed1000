import { setImmediate } from 'node:timers/promises';
import { AmbiguousError, TransientError } from '../../functions/core/errors.ts';
import type { Ports } from '../../functions/ports.ts';
import type { FakeClock } from './clock.ts';

/** How one call of a port goes; `hangs` and `done, but hangs` take its whole deadline and fail. */
export type Course = 'at once' | 'slow' | 'contended' | 'hangs' | 'done, but hangs';

/** A call that hangs, with the time that its adapter needs to let go of it. */
const HANGS_MS = 10_999;
const SLOW_MS = 9000;
/** Ports whose calls take time. */
const REMOTE: ReadonlySet<string> = new Set(['store', 'bus', 'events', 'summaries', 'tasks', 'probes', 'warehouse'] satisfies (keyof Ports)[]); // prettier-ignore

export interface Hanging<Some> {
  readonly ports: Some;
  /** Calls under way. */
  underWay(): number;
}

/** The same ports, of which each call takes the course that it is given by its place among all calls. */
export function hanging<Some extends Partial<Ports>>(
  ports: Some,
  clock: FakeClock,
  courseOf: (port: string, place: number) => Course,
): Hanging<Some> {
  let calls = 0;
  let underWay = 0;

  async function take<T>(course: Course, hangsMs: number, effect: () => Promise<T>): Promise<T> {
    if (course === 'at once') return effect();
    if (course === 'slow') {
      await clock.sleep(SLOW_MS);
      return effect();
    }
    if (course === 'contended') {
      await clock.sleep(SLOW_MS);
      throw new TransientError('contention', 'somebody interfered');
    }
    await clock.sleep(hangsMs);
    if (course === 'hangs') throw new TransientError('deadline_exceeded', 'no answer');
    await effect();
    throw new AmbiguousError('no answer');
  }

  const wrap = (name: string, port: object): unknown =>
    new Proxy(port, {
      get: (target, method): unknown => {
        const member = Reflect.get(target, method) as (...args: unknown[]) => Promise<unknown>;
        return async (...args: unknown[]): Promise<unknown> => {
          underWay++;
          try {
            // A wait for a job takes as long as it was asked to, and then its deadline.
            const waits = name === 'warehouse' && method === 'wait' ? Number(args[1]) : 0;
            return await take(courseOf(name, calls++), HANGS_MS + waits, () => Reflect.apply(member, target, args));
          } catch (error) {
            // The real client tells each message's own failure.
            if (name === 'bus') return (args[1] as unknown[]).map(() => error);
            throw error;
          } finally {
            underWay--;
          }
        };
      },
    });

  const wrapped = Object.entries(ports).map(([name, port]) => [name, REMOTE.has(name) ? wrap(name, port) : port]);
  return { ports: Object.fromEntries(wrapped) as Some, underWay: () => underWay };
}

/** Lets time pass, from one sleeper to the next, until `done` is settled. */
export async function passUntil<T>(clock: FakeClock, done: Promise<T>): Promise<T> {
  let open = true;
  const settled = done.finally(() => (open = false));
  settled.catch(() => undefined);
  for (;;) {
    await setImmediate();
    if (!open) return settled;
    const next = clock.nextSleeper();
    if (next === null) throw new Error('nobody sleeps, and still it is not done');
    clock.set(next);
  }
}
