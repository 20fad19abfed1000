import path from 'node:path';
import { readLines } from './input.ts';
import type { Options } from './options.ts';
import { toReference, type ReferenceRow } from './reference.ts';
import { rfc3339 } from './time.ts';

const SAMPLE = path.resolve(import.meta.dirname, '../sample');
const FLIGHTS = path.join(SAMPLE, 'flights.ndjson.gz');
const AIRLINES = path.join(SAMPLE, 'airlines.ndjson.gz');

export interface Inputs {
  readonly title: string;
  readonly lines: readonly string[];
  readonly reference: readonly ReferenceRow[];
  readonly completion: readonly string[];
}

/** What the options ask for: files of the user's own, or the sample. `now` is epoch microseconds. */
export async function readInputs(options: Options, now: number): Promise<Inputs> {
  const own = options.data !== null;
  const referenceFile = options.reference ?? (own ? null : AIRLINES);
  return {
    title: own ? options.data : 'flights in the United States, 1 and 2 January 2015 (US DOT, public domain)',
    lines: await readLines(options.data ?? FLIGHTS),
    reference: referenceFile === null ? [] : toReference(await readLines(referenceFile), rfc3339(now)),
    completion: options.completion ?? (own ? ['completed', 'finish', 'finished'] : ['arrived', 'cancelled']),
  };
}
