import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

/**
 * Compares two folders written by `npm start -- --once --export DIR`: a run must end with the same answer whatever
 * went wrong on the way. `node test/replay/compare.ts QUIET CHAOS`; exit code 1 when they differ.
 */

type Row = Readonly<Record<string, unknown>>;

/** What must be equal of each file. What only tells how a run went (times of writing, revisions, ids of runs) is left out. */
const FILES: Readonly<Record<string, (row: Row) => unknown>> = {
  events_unique: without('message_id', 'publish_time', 'ingest_time', 'attributes'),
  summaries_latest: without('generation', 'revision', 'late_events', 'written_at'),
  joined: without('run_id', 'window_start', 'window_end'),
  // A repeat has the same id and content, so a set of (id, content) holds one of each.
  results: (row) => [(row['attributes'] as Row)['result_id'], row['message']],
  dead_letters: (row) => [row['data'], (JSON.parse(String(row['attributes'])) as Row)['reason']],
};

function without(...names: readonly string[]): (row: Row) => Row {
  return (row) => Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

export interface Comparison {
  readonly file: string;
  /** Different contents in each of the two. */
  readonly left: number;
  readonly right: number;
  readonly onlyLeft: readonly string[];
  readonly onlyRight: readonly string[];
}

export async function compareExports(left: string, right: string): Promise<Comparison[]> {
  return Promise.all(
    Object.entries(FILES).map(async ([file, content]) => {
      const [a, b] = await Promise.all(
        [left, right].map((folder) => read(path.join(folder, `${file}.ndjson`), content)),
      );
      return {
        file,
        left: a!.size,
        right: b!.size,
        onlyLeft: [...a!.difference(b!)],
        onlyRight: [...b!.difference(a!)],
      };
    }),
  );
}

export const isEqual = (comparison: Comparison): boolean =>
  comparison.onlyLeft.length === 0 && comparison.onlyRight.length === 0;

async function read(file: string, content: (row: Row) => unknown): Promise<Set<string>> {
  const rows = new Set<string>();
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    if (line !== '') rows.add(JSON.stringify(content(JSON.parse(line) as Row)));
  }
  return rows;
}

async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [left, right] = positionals;
  if (left === undefined || right === undefined) throw new Error('usage: node test/replay/compare.ts DIR DIR');
  const comparisons = await compareExports(left, right);
  for (const comparison of comparisons) {
    const { file, onlyLeft, onlyRight } = comparison;
    console.log(
      `${isEqual(comparison) ? 'equal' : 'DIFFER'}  ${file}  ${comparison.left} and ${comparison.right} contents`,
    );
    for (const row of onlyLeft.slice(0, 3)) console.log(`  only in ${left}: ${row.slice(0, 400)}`);
    for (const row of onlyRight.slice(0, 3)) console.log(`  only in ${right}: ${row.slice(0, 400)}`);
  }
  process.exitCode = comparisons.every(isEqual) ? 0 : 1;
}

if (import.meta.main) await main();
