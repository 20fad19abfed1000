import type { Cloud } from '../cloud.ts';
import type { EventLog } from './event-log.ts';
import { exportAll } from './export.ts';
import { deadLetterHint, joinHints } from './hints.ts';
import type { Inputs } from './inputs.ts';
import { count, observe, writtenOverHttp, type Row } from './observe.ts';
import { expect, type Written } from './oracle.ts';
import { isKnownJoin, JOIN } from './join.ts';
import { MEMORY_LIMIT, type Report } from './report.ts';
import type { Replayed } from './run.ts';
import { micros } from './time.ts';
import { judge, passed } from './verdict.ts';

export interface Checked {
  readonly cloud: Cloud;
  readonly inputs: Inputs;
  readonly log: EventLog;
  readonly replayed: Replayed;
  /** Folder for what came out; null when nobody asked for it. */
  readonly exportDir: string | null;
  /** Epoch microseconds. */
  readonly now: number;
}

/** Compares all that is in the cloud at rest with all that was ever published. */
export async function check({ cloud, inputs, log, replayed, exportDir, now }: Checked): Promise<Report> {
  const { bigquery, firestore } = cloud.clients;
  const { published, received } = log;
  const written = (await writtenOverHttp(bigquery)).map(toWritten);
  const expected = expect(published, { ...inputs, written, now });
  const output = await observe(bigquery);
  if (exportDir !== null) await exportAll(exportDir, output, received);
  const sequences = firestore.collection('sequences');
  const [keys, waking] = await Promise.all([
    sequences.count().get(),
    sequences.where('wake_at', '>=', 0).count().get(),
  ]);
  const open = waking.data().count;
  const known = new Set(published.map(({ messageId }) => messageId));
  const checks = judge(expected, {
    output,
    counts: { rawRows: await count(bigquery, 'events'), open, finished: keys.data().count - open },
    results: received,
    knownJoin: isKnownJoin(),
    lost: replayed.ids.filter((id) => !known.has(id)).length,
  });
  const functions = await memory(cloud);
  const large = Object.keys(functions).filter((name) => functions[name]!.peakMemory >= MEMORY_LIMIT);
  const ids = new Set(received.map(({ attributes }) => attributes['result_id']));
  const others = cloud.joins
    .filter(({ name }) => name !== JOIN)
    .map(({ name, topic }) => ({
      ...{ name, topic },
      rows: output.joined.filter((row) => row['join_name'] === name).length,
    }));
  const { repeats, undecided, summaries } = expected;
  return {
    verdict: checks.every(passed) && large.length === 0 ? 'correct' : 'wrong',
    events: {
      messages: replayed.ids.length,
      known: replayed.known,
      repeats,
      overHttp: written.length,
      days: replayed.days,
    },
    checks,
    undecided: undecided.size,
    expired: [...summaries.values()].filter(({ state }) => state === 'expired').length,
    received: { messages: received.length, repeated: received.length - ids.size },
    seconds: replayed.seconds,
    functions,
    billed: cloud.meter.snapshot(),
    hints: [
      ...large.map((name) => `The function ${name} took more memory than it has on Google Cloud.`),
      replayed.hint,
      deadLetterHint(output.dead_letters),
      ...joinHints(others, cloud.functions.join.lines),
    ].filter((hint) => hint !== null),
  };
}

function toWritten(row: Row): Written {
  const text = (name: string): string | null => row[name] as string | null;
  return {
    event: {
      uniqueKey: text('unique_key')!,
      eventId: text('event_id')!,
      eventStatus: text('event_status')!,
      eventTime: micros(row['event_time'])!,
      joinKey: text('join_key'),
      sequence: row['sequence'] as number | null,
      payload: text('payload'),
    },
    time: micros(row['ingest_time'])!,
  };
}

async function memory(cloud: Cloud): Promise<Report['functions']> {
  const entries = Object.entries(cloud.functions);
  await Promise.all(entries.map(([, one]) => one.sample()));
  return Object.fromEntries(entries.map(([name, one]) => [name, { peakMemory: one.peakMemory, starts: one.starts }]));
}
