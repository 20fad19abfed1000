import { parseArgs } from 'node:util';
import { ConfigError, loadConfig } from '../../functions/config.ts';
import { PROJECT } from '../resources.ts';
import { isTried, TRIED } from './settings.ts';

export interface Options {
  readonly once: boolean;
  readonly data: string | null;
  readonly reference: string | null;
  readonly completion: readonly string[] | null;
  readonly asRecorded: boolean;
  readonly shuffle: number | null;
  readonly repeat: number;
  /** Events a second; as fast as it goes when null. */
  readonly rate: number | null;
  readonly chaos: number | null;
  readonly exportDir: string | null;
  readonly json: boolean;
  readonly stateDir: string | null;
  /** Publishes again what the state folder has already. */
  readonly again: boolean;
  /** Files of the user's own tables by their names. */
  readonly tables: Readonly<Record<string, string>>;
  /** Settings of the functions by name. */
  readonly set: Readonly<Record<string, string>>;
}

export const HELP = `npm start -- [options]

Runs the whole of Codaflow on this machine: local servers for Pub/Sub, Firestore, BigQuery, Cloud Tasks and Cloud
Scheduler, the functions as processes of their own, a replay of real events, and a check of everything that comes out.
Then it stays up for events and queries of your own; Ctrl-C ends all of it. Exit code: 0 when everything is as expected,
1 when not, 2 when an option or a file cannot be used.

  --once               end after the verdict
  --data FILE          events to replay, NDJSON or .gz, - for stdin (default: flights of January 2015)
  --reference FILE     reference rows for the join, NDJSON or .gz, - for stdin (default: airlines, with the default events)
  --table NAME=FILE    a table of your own for a join to read: its rows, NDJSON or .gz; may be repeated
  --completion a,b     statuses that complete a key (default: arrived,cancelled with the default events,
                       else completed,finish,finished)
  --set NAME=VALUE     a setting of the functions: ${TRIED.join(', ')}; may be repeated
  --as-recorded        keep the recorded times; else all move by one number of whole days, to end today
  --shuffle SEED       deliver out of order: each event up to 60 s of its own time late, by this seed
  --repeat SHARE       publish this share of the events twice, for example 0.02
  --rate N             publish at most N events a second
  --chaos SEED         while the replay runs, kill functions, refuse calls, lose answers and deliver twice, by this seed
  --export DIR         write what came out as NDJSON files; files of an earlier export are replaced
  --json               print the report as JSON on stdout, and nothing else there
  --state DIR          keep the state of the local cloud (and logs) in this folder. The next run on it goes on from
                       there: it does not publish again what the folder has, and its verdict is about all of it
  --again              with --state: publish the events again all the same, as repeats
  --help               this text
`;

/** What was given cannot be used; the message is one line for the person who gave it. */
export class InputError extends Error {}

/** A wrong command line. */
export class UsageError extends InputError {
  constructor(message: string) {
    super(`${message} (npm start -- --help lists the options)`);
  }
}

/** @throws UsageError */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const values = parse(args);
  if (values.help === true) return 'help';
  if (values.data === '-' && values.reference === '-')
    throw new UsageError('only one of --data and --reference can be -');
  if (values.again === true && values.state === undefined) throw new UsageError('--again needs --state DIR');
  return {
    once: values.once ?? false,
    data: values.data ?? null,
    reference: values.reference ?? null,
    completion: values.completion === undefined ? null : statuses(values.completion),
    asRecorded: values['as-recorded'] ?? false,
    shuffle: number('shuffle', values.shuffle, isSeed, 'a whole number'),
    repeat: number('repeat', values.repeat, (n) => n >= 0 && n <= 1, 'a share from 0 to 1') ?? 0,
    rate: number('rate', values.rate, (n) => n > 0, 'events a second'),
    chaos: number('chaos', values.chaos, isSeed, 'a whole number'),
    exportDir: values.export ?? null,
    json: values.json ?? false,
    stateDir: values.state ?? null,
    again: values.again ?? false,
    tables: tableFiles(values.table ?? []),
    set: settings(values.set ?? []),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      strict: true,
      allowPositionals: false,
      options: {
        once: { type: 'boolean' },
        data: { type: 'string' },
        reference: { type: 'string' },
        completion: { type: 'string' },
        'as-recorded': { type: 'boolean' },
        shuffle: { type: 'string' },
        repeat: { type: 'string' },
        rate: { type: 'string' },
        chaos: { type: 'string' },
        export: { type: 'string' },
        json: { type: 'boolean' },
        state: { type: 'string' },
        again: { type: 'boolean' },
        table: { type: 'string', multiple: true },
        set: { type: 'string', multiple: true },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/\. (To specify|This command).*$/s, ''));
  }
}

const isSeed = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

function number(
  name: string,
  text: string | undefined,
  valid: (n: number) => boolean,
  expected: string,
): number | null {
  if (text === undefined) return null;
  const value = text.trim() === '' ? NaN : Number(text);
  if (!Number.isFinite(value) || !valid(value)) throw new UsageError(`--${name} takes ${expected}, got "${text}"`);
  return value;
}

function statuses(text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.some((item) => item === '')) throw new UsageError(`--completion takes statuses such as a,b, got "${text}"`);
  return items;
}

function tableFiles(items: readonly string[]): Record<string, string> {
  const pairs = items.map((item) => /^([A-Za-z_]\w*)=(.+)$/s.exec(item) ?? item);
  const wrong = pairs.find((pair) => typeof pair === 'string');
  if (wrong !== undefined) throw new UsageError(`--table takes NAME=FILE, got "${wrong}"`);
  return Object.fromEntries(pairs.map(([, name, file]) => [name, file])) as Record<string, string>;
}

function settings(items: readonly string[]): Record<string, string> {
  const set: Record<string, string> = {};
  for (const item of items) {
    const at = item.indexOf('=');
    const name = at < 0 ? item : item.slice(0, at);
    if (name === 'COMPLETION_STATUSES')
      throw new UsageError('--set COMPLETION_STATUSES: that is --completion a,b here');
    if (!isTried(name)) throw new UsageError(`--set takes NAME=VALUE with one of ${TRIED.join(', ')}, got "${item}"`);
    if (at < 0) throw new UsageError(`--set ${name}: it lacks its value, NAME=VALUE`);
    set[name] = item.slice(at + 1);
  }
  try {
    loadConfig({ PROJECT_ID: PROJECT, ...set });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(`--set ${error.problems.join('; ')}`);
  }
  return set;
}
