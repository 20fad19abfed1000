import { parseArgs } from 'node:util';
import type { Micros } from '../../functions/core/event.ts';
import { parseRfc3339 } from '../../functions/core/time.ts';

export interface Options {
  /** Null: the local cloud that runs on this machine. */
  readonly project: string | null;
  readonly dataset: string;
  readonly eventsTopic: string;
  readonly reason: string | null;
  readonly key: string | null;
  readonly from: Micros | null;
  readonly to: Micros | null;
  /** Messages a second. */
  readonly rate: number;
  readonly limit: number;
  readonly ledger: string | null;
  readonly again: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

export class UsageError extends Error {}

export const HELP = `npm run redrive -- [options]

Publishes dead letters again, with their bytes, attributes and event ids as they were.

  --reason CODE      only those with this reason; none = those that Pub/Sub gave up on
  --key KEY          only those of this unique_key
  --from TIME        dead-lettered at or after this time (RFC 3339)
  --to TIME          dead-lettered before this time; now by default
  --rate N           messages a second, 200 by default
  --limit N          leave alone what was redriven N times, 3 by default
  --dry-run          only count and price
  --yes              do not ask
  --again            also those that this machine has redriven before
  --ledger FILE      what was redriven, .state/redrive/PROJECT.DATASET.ids by default
  --project ID       on Google Cloud, as you (application default credentials); else on the local cloud
  --dataset ID       codaflow by default
  --events-topic ID  events by default; only for what came in through submit
`;

/** @throws UsageError */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const string = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        ...{ reason: string, key: string, from: string, to: string, rate: string, limit: string, ledger: string },
        ...{ project: string, dataset: string, 'events-topic': string },
        ...{ again: flag, 'dry-run': flag, yes: flag, help: flag },
      },
    }));
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  if (values.help) return 'help';
  const { reason = null, key = null, project = null, ledger = null, dataset = 'codaflow' } = values;
  if (!/^\w+$/.test(dataset)) throw new UsageError('--dataset: expected a dataset id');
  return {
    ...{ project, dataset, reason, key, ledger },
    eventsTopic: values['events-topic'] ?? 'events',
    from: time('--from', values.from),
    to: time('--to', values.to),
    rate: integer('--rate', values.rate ?? '200', 100_000),
    limit: integer('--limit', values.limit ?? '3', 1000),
    again: values.again,
    dryRun: values['dry-run'],
    yes: values.yes,
  };
}

function time(name: string, text: string | undefined): Micros | null {
  if (text === undefined) return null;
  const read = parseRfc3339(text);
  if (read === null) throw new UsageError(`${name}: expected a time such as 2024-01-05T10:00:00Z`);
  return read.micros;
}

function integer(name: string, text: string, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) throw new UsageError(`${name}: expected a whole number from 1 to ${max}`);
  return value;
}
