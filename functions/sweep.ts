import { End } from './end.ts';
import { RETRY_LATER } from './http/answers.ts';
import type { Handler } from './http/handler.ts';
import { sweep } from './keys/sweep.ts';
import { keysKind } from './keys/sweep-keys.ts';
import { watchesKind } from './keys/sweep-watches.ts';
import type { Runtime } from './runtime.ts';

export const uses = ['clock', 'store', 'bus', 'tasks'] as const;

/**
 * Every minute, woken by Cloud Scheduler: looks for wake-ups that came due and sends their hints. Answers 200 with the
 * counts per collection, 503 with the same when something failed; the next run finds what was left either way. The kinds
 * are swept side by side, so that none starves another, and the run ends before the next one begins.
 */
export function create({ ports, config }: Runtime<(typeof uses)[number]>): Handler {
  const kinds = [keysKind(ports.bus), watchesKind(ports)];
  return async (_request, log) => {
    const end = End.ofRequest(ports.clock, config);
    const counted = await Promise.all(kinds.map((kind) => sweep(ports, config, kind, end, log)));
    const counts = Object.fromEntries(kinds.map(({ collection }, index) => [collection, counted[index]!]));
    const failed = Object.values(counts).some((one) => one.failed > 0);
    log({ severity: failed ? 'WARNING' : 'INFO', event: 'sweep.done', ...counts });
    return failed ? { status: 503, headers: RETRY_LATER, body: counts } : { status: 200, body: counts };
  };
}
