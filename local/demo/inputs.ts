import { createHash } from 'node:crypto';
import path from 'node:path';
import { namesOf, type Fields, type Names } from './fields.ts';
import type { Remembered } from './folders.ts';
import { nameOf, readObjects } from './input.ts';
import { InputError, type Options } from './options.ts';
import { toReference, type ReferenceRow } from './reference.ts';
import { readTables, type OwnTable } from './tables.ts';
import { rfc3339 } from './time.ts';

const SAMPLE = path.resolve(import.meta.dirname, '../sample');
const FLIGHTS = path.join(SAMPLE, 'flights.ndjson.gz');
const AIRLINES = path.join(SAMPLE, 'airlines.ndjson.gz');

export interface Inputs {
  readonly title: string;
  readonly lines: readonly string[];
  /** Tells files apart, whatever they are called. */
  readonly hash: string;
  readonly reference: readonly ReferenceRow[];
  readonly completion: readonly string[];
  readonly tables: readonly OwnTable[];
  /** What the members of the messages are called, and were in earlier runs. */
  readonly fields: readonly Fields[];
  readonly names: Names;
}

/**
 * What the options ask for: files of the user's own, or the sample. A state folder that was used before goes on with
 * its own completion statuses and reference rows. `now` is epoch microseconds.
 *
 * @throws InputError
 */
export async function readInputs(options: Options, before: Remembered | null, now: number): Promise<Inputs> {
  const own = options.data !== null;
  const lines = (await readObjects(options.data ?? FLIGHTS, 'events')).map(({ text }) => text);
  const hash = createHash('sha256').update(lines.join('\n')).digest('hex');
  // A folder of other events is only started again.
  const fields = fieldsOf(options, before, now);
  const replayed = own || before === null || hash in before.files;
  return {
    title: !replayed
      ? `what is in ${options.stateDir}`
      : own
        ? nameOf(options.data)
        : 'flights in the United States, 1 and 2 January 2015 (US DOT, public domain)',
    lines: replayed ? lines : [],
    hash,
    reference: await referenceOf(options, before, now),
    completion: completionOf(options, before),
    tables: await readTables(options),
    fields,
    names: namesOf(fields.at(-1)!.text),
  };
}

async function referenceOf(options: Options, before: Remembered | null, now: number): Promise<readonly ReferenceRow[]> {
  const file = options.reference ?? (options.data === null ? AIRLINES : null);
  if (before !== null && options.reference === null) return before.reference;
  const rows = file === null ? [] : toReference(await readObjects(file, 'reference rows'), file, rfc3339(now));
  if (before !== null && content(rows) !== content(before.reference)) {
    throw new InputError(
      `--reference ${options.reference}: what is in ${options.stateDir} was joined with other reference rows; leave the option out, or name a new --state folder`,
    );
  }
  return rows;
}

const content = (rows: readonly ReferenceRow[]): string =>
  JSON.stringify(rows.map((row) => [row.join_key, row.target_attribute]).sort());

function completionOf({ completion, data, stateDir }: Options, before: Remembered | null): readonly string[] {
  if (before === null)
    return completion ?? (data === null ? ['arrived', 'cancelled'] : ['completed', 'finish', 'finished']);
  if (completion !== null && completion.toSorted().join() !== before.completion.toSorted().join()) {
    throw new InputError(
      `--completion ${completion.join(',')}: the keys in ${stateDir} were completed by ${before.completion.join(',')}; leave the option out, or name a new --state folder`,
    );
  }
  return before.completion;
}

/** A folder keeps its names until a run has others. */
function fieldsOf({ set }: Options, before: Remembered | null, now: number): readonly Fields[] {
  const known = before?.fields ?? [];
  const latest = known.at(-1)?.text ?? '';
  const text = set['EVENT_FIELDS'] ?? latest;
  if (known.length > 0 && text === latest) return known;
  return [...known, { since: before === null ? 0 : now, text }];
}
