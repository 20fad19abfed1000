import type { Micros } from '../core/event.ts';
import type { WatchState } from '../core/watch/state.ts';
import { taskName } from '../core/watch/watch.ts';
import type { Task } from '../ports.ts';

/** What the task of a watch says: only where to look. */
export interface Look {
  readonly watchId: string;
  readonly generation: Micros;
  readonly attempt: number;
}

/** The task that looks at a watch when its next attempt is due, or at once when that is past. */
export function lookTask(state: WatchState, now: Micros, wakeUps: number): Task {
  const { spec, created, attempt, due, outcome } = state;
  return {
    queue: 'poll',
    name: taskName(state, wakeUps),
    scheduleTime: outcome === null && due > now ? due : null,
    body: JSON.stringify({ watch_id: spec.watchId, generation: created, attempt }),
  };
}

/** Reads the body of a task; null when it is not one of ours. */
export function readLook(value: unknown): Look | null {
  if (typeof value !== 'object' || value === null) return null;
  const { watch_id: watchId, generation, attempt } = value as Record<string, unknown>;
  const valid = typeof watchId === 'string' && Number.isSafeInteger(generation) && Number.isSafeInteger(attempt);
  return valid ? { watchId, generation: generation as Micros, attempt: attempt as number } : null;
}
