import type { Handler } from './http/handler.ts';
import { sweep, type SweepCounts } from './keys/sweep.ts';
import { keysKind } from './keys/sweep-keys.ts';
import { watchesKind } from './keys/sweep-watches.ts';
import type { Runtime } from './runtime.ts';

export const uses = ['clock', 'store', 'bus', 'tasks'] as const;

/** A run ends well before the function's timeout of 60 s, and before the next one begins. */
const BUDGET = 40e6;

/**
 * Every minute, woken by Cloud Scheduler: looks for wake-ups that came due and sends their hints. Answers 200 with the
 * counts per collection, 503 with the same when something failed; the next run finds what was left either way.
 */
export function create({ ports, config }: Runtime<(typeof uses)[number]>): Handler {
  const kinds = [keysKind(ports.bus), watchesKind(ports)];
  return async (_request, log) => {
    const counts: Record<string, SweepCounts> = {};
    for (const kind of kinds) {
      // Each kind has an equal share of the time, so that none starves another.
      const until = ports.clock.now() + BUDGET / kinds.length;
      counts[kind.collection] = await sweep(ports, config, kind, until, log);
    }
    const failed = Object.values(counts).some((one) => one.failed > 0);
    log({ severity: failed ? 'WARNING' : 'INFO', event: 'sweep.done', ...counts });
    return { status: failed ? 503 : 200, body: counts };
  };
}
