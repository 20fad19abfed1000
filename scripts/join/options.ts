import { parseArgs } from 'node:util';
import type { Micros } from '../../functions/core/event.ts';
import { parseRfc3339 } from '../../functions/core/time.ts';

interface Place {
  /** Null: the local cloud that runs on this machine. */
  readonly project: string | null;
  readonly dataset: string;
  readonly location: string | null;
}

export interface CheckOptions extends Place {
  readonly command: 'check';
  /** Null: every join. */
  readonly name: string | null;
}

export interface BackfillOptions extends Place {
  readonly command: 'backfill';
  readonly name: string;
  readonly from: Micros;
  readonly to: Micros;
  readonly days: number;
  readonly topic: string | null;
  readonly restart: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

export type Options = CheckOptions | BackfillOptions;

export class UsageError extends Error {}

export const HELP = `npm run join -- check [NAME] [options]
npm run join -- backfill NAME --from TIME --to TIME [options]

check     dry-runs every statement of the joins; an error names file, line and reason
backfill  publishes what the join finds among the events of these event times and has not published yet;
          stopped anywhere, the same command goes on. Scheduled runs answer "busy" meanwhile; the command does their work

  --from TIME      event time, a date or RFC 3339; inclusive
  --to TIME        exclusive
  --days N         most days of one step, 31 by default
  --restart        forget how far a backfill of this join came that has not ended
  --dry-run        only bytes and price
  --yes            do not ask
  --project ID     on Google Cloud, as you (application default credentials); else on the local cloud
  --dataset ID     codaflow by default
  --location PLACE location of the dataset; US by default
  --topic ID       where the messages go, when it is another than the one in join.json

On Google Cloud the functions' other settings (JOIN_LAG, JOIN_WAIT, ...) are read from the environment.
`;

/** @throws UsageError */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const string = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...{ from: string, to: string, days: string, project: string, dataset: string, location: string },
        ...{ topic: string, restart: flag, 'dry-run': flag, yes: flag, help: flag },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { values, positionals } = parsed;
  const [command, name = null, ...more] = positionals;
  if (values.help || command === undefined) return 'help';
  const { project = null, dataset = 'codaflow', location = null, topic = null } = values;
  if (!/^\w+$/.test(dataset)) throw new UsageError('--dataset: expected a dataset id');
  if (more.length > 0) throw new UsageError(`unexpected ${more.join(' ')}`);
  if (command === 'check') return { command, name, project, dataset, location };
  if (command !== 'backfill') throw new UsageError(`unknown command ${command}; check or backfill`);
  if (name === null) throw new UsageError('backfill: name the join');
  const [from, to] = [time('--from', values.from), time('--to', values.to)];
  if (from >= to) throw new UsageError('--from must be before --to');
  const days = /^\d{1,4}$/.test(values.days ?? '31') ? Number(values.days ?? '31') : 0;
  if (days < 1 || days > 1000) throw new UsageError('--days: expected a whole number from 1 to 1000');
  return {
    ...{ command, name, project, dataset, location, topic, from, to, days },
    restart: values.restart,
    dryRun: values['dry-run'],
    yes: values.yes,
  };
}

function time(option: string, text: string | undefined): Micros {
  const read = text === undefined ? null : parseRfc3339(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (read === null) throw new UsageError(`${option}: expected a date or a time such as 2024-01-05T10:00:00Z`);
  return read.micros;
}
