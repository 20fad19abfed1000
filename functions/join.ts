import path from 'node:path';
import { loadJoins } from './gcp/joins.ts';
import type { Handler } from './http/handler.ts';
import { untilTimeout } from './join/end.ts';
import { runJoin } from './join/run.ts';
import { tablesOf } from './join/tables.ts';
import type { Runtime } from './runtime.ts';
import { withFields } from './log.ts';
import { toError } from './core/errors.ts';

export const uses = ['clock', 'ids', 'store', 'bus', 'warehouse'] as const;

/**
 * A tick of a join, woken by Cloud Scheduler. The body `{"join": NAME}` names it; with a single join it may be left out.
 * Answers 200 with a report (also when another run is busy), 404 for a join that is not deployed, 503 when it has to be
 * tried again.
 */
export function create({ config, ports }: Runtime<(typeof uses)[number]>): Handler {
  const joins = loadJoins(config, path.resolve('joins'));
  return async (request, log) => {
    const asked = (request.body as { join?: unknown } | null | undefined)?.join;
    const name = asked === undefined && joins.size === 1 ? [...joins.keys()][0]! : asked;
    const join = typeof name === 'string' ? joins.get(name) : undefined;
    if (join === undefined) {
      return {
        status: 404,
        body: { error: `name one of the joins ${[...joins.keys()].join(', ')} in the body, as {"join": NAME}` },
      };
    }
    const scheduled = request.headers['x-cloudscheduler-scheduletime'] ?? null;
    const fields = withFields(log, { join: join.name, scheduled });
    const tables = tablesOf(join, config);
    try {
      const report = await runJoin({ join, tables, config, ports: untilTimeout(ports, config), log: fields });
      fields({ severity: 'INFO', event: 'join.done', ...report });
      return { status: 200, body: report };
    } catch (error) {
      fields({ severity: 'ERROR', event: 'join.failed', error: toError(error) });
      return { status: 503, headers: { 'retry-after': '60' }, body: { error: toError(error).message } };
    }
  };
}
