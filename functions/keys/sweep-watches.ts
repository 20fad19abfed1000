import { toError } from '../core/errors.ts';
import { WATCHES, readWatch } from '../poll/documents.ts';
import { lookTask } from '../poll/task.ts';
import type { Ports } from '../ports.ts';
import { eachLimited } from './limit.ts';
import type { SweepKind } from './sweep.ts';

const TASKS_AT_ONCE = 10;

/** Watches: whoever wakes gets a task again, under another name than the one that may be lost. */
export function watchesKind(ports: Pick<Ports, 'tasks' | 'clock'>): SweepKind {
  return {
    collection: WATCHES,
    name: ({ document }) => (typeof document['watch_id'] === 'string' ? document['watch_id'] : ''),
    async hint(found, end) {
      const { tasks, clock } = end.guard(ports);
      const results = await eachLimited(found, TASKS_AT_ONCE, async ({ document }) => {
        try {
          const state = readWatch(document)!;
          await tasks.create(lookTask(state, clock.now(), state.attempts + 1));
          return null;
        } catch (error) {
          return toError(error);
        }
      });
      return results.filter((result) => result !== null);
    },
  };
}
