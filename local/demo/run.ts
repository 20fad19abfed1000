import { setTimeout as sleep } from 'node:timers/promises';
import { DATASET, RESULTS_SUBSCRIPTION } from '../resources.ts';
import type { Cloud } from '../cloud.ts';
import { Chaos } from './chaos.ts';
import type { Console } from './console.ts';
import { exportAll } from './export.ts';
import type { Inputs } from './inputs.ts';
import { loadHistory, saveHistory } from './history.ts';
import { count, observe } from './observe.ts';
import type { Options } from './options.ts';
import { expect } from './oracle.ts';
import { prepare } from './prepare.ts';
import { publish } from './publish.ts';
import { describe, dueKeys, joinPosition, waitUntilQuiet } from './quiet.ts';
import { Receiver } from './receive.ts';
import { MEMORY_LIMIT, progressBar, type Report } from './report.ts';
import { judge, passed } from './verdict.ts';

/** The default join. */
export const JOIN = 'enrich';
/** A replay with chaos lasts at least this long, so that there is something to disturb. */
const CHAOS_SECONDS = 8;
/** and at most so much longer than it. */
const CHAOS_AFTER_MS = 60_000;

export interface Run {
  readonly cloud: Cloud;
  readonly inputs: Inputs;
  readonly options: Options;
  readonly console: Console;
  readonly chaos: Chaos | null;
  readonly signal: AbortSignal;
}

const nowMicros = (): number => Date.now() * 1000;

/** Replays, waits until everything is through, and compares. */
export async function replay(run: Run): Promise<Report> {
  const { cloud, inputs, options, console, chaos, signal } = run;
  const { pubsub, bigquery, firestore } = cloud.clients;
  const history = await loadHistory(options.stateDir);
  const now = nowMicros();
  const prepared = prepare(inputs.lines, { now, ...options, days: history.days });
  console.line(
    `${prepared.lines.length} messages, ${prepared.repeats} of them repeats; times moved by ${prepared.days} days`,
  );
  await loadReference(run);
  const receiver = new Receiver(pubsub, RESULTS_SUBSCRIPTION);
  receiver.received.push(...history.received);
  try {
    // A join begins at the moment of its first run.
    await waitForJoin(run);
    const start = Date.now();
    const rate = options.rate ?? (chaos === null ? null : Math.max(1, prepared.lines.length / CHAOS_SECONDS));
    chaos?.start(Object.values(cloud.functions));
    const total = prepared.lines.length;
    const published = await publish(pubsub, prepared.lines, {
      rate,
      signal,
      onProgress: (done) => console.status(`Publishing ${progressBar(done, total)}`),
    });
    const replayed = Date.now();
    console.done(`Published  ${progressBar(total, total)}`);
    if (chaos !== null) {
      await mostlyThrough(run);
      await chaos.stop();
      console.done(`Chaos      ${summary(chaos)}`);
    }
    await waitUntilQuiet({
      signal,
      now: nowMicros,
      look: async () => ({
        backlog: cloud.backlog(),
        dueKeys: await dueKeys(firestore, nowMicros()),
        joinPosition: await joinPosition(firestore, JOIN),
      }),
      onLook: (pending) => console.status(`Processing ${describe(pending)}`),
    });
    const settled = Date.now();
    console.done('Processed  everything; comparing');
    const all = [...history.published, ...published];
    await saveHistory(options.stateDir, { days: prepared.days, published: all, received: receiver.received });
    const expected = expect(all, { ...inputs, now });
    const output = await observe(bigquery);
    if (options.exportDir !== null) await exportAll(options.exportDir, output, receiver.received);
    const sequences = firestore.collection('sequences');
    const [keys, open] = await Promise.all([
      sequences.count().get(),
      sequences.where('wake_at', '>=', 0).count().get(),
    ]);
    const openCount = open.data().count;
    const checks = judge(expected, all.length, {
      output,
      counts: {
        rawRows: await count(bigquery, 'events'),
        open: openCount,
        finished: keys.data().count - openCount,
      },
      results: receiver.received,
    });
    const functions = await memory(cloud);
    const small = Object.values(functions).every(({ peakMemory }) => peakMemory < MEMORY_LIMIT);
    const ids = new Set(receiver.received.map(({ attributes }) => attributes['result_id']));
    return {
      verdict: checks.every(passed) && small ? 'correct' : 'wrong',
      events: { messages: total, repeats: expected.repeats, days: prepared.days },
      checks,
      undecided: expected.undecided.size,
      received: { messages: receiver.received.length, repeated: receiver.received.length - ids.size },
      seconds: { replay: (replayed - start) / 1000, settle: (settled - replayed) / 1000 },
      functions,
      billed: cloud.meter.snapshot(),
    };
  } finally {
    await receiver.close();
  }
}

/** Trouble goes on while messages wait, so that it meets the work itself, but not for ever. */
async function mostlyThrough({ cloud, console, signal }: Run): Promise<void> {
  const deadline = Date.now() + CHAOS_AFTER_MS;
  for (;;) {
    const waiting = Object.values(cloud.backlog()).reduce((sum, messages) => sum + messages, 0);
    if (waiting === 0 || Date.now() > deadline) return;
    console.status(`Chaos      ${waiting} messages on their way`);
    await sleep(250, undefined, { signal });
  }
}

function summary({ counts }: Chaos): string {
  const { killed, refused, answersLost, delayed, deliveredTwice } = counts;
  return `${killed} functions killed, ${refused} calls refused, ${answersLost} answers lost, ${delayed} calls delayed, ${deliveredTwice} messages delivered twice`;
}

async function loadReference({ cloud, inputs }: Run): Promise<void> {
  const table = cloud.clients.bigquery.dataset(DATASET).table('reference');
  if ((await count(cloud.clients.bigquery, 'reference')) > 0) return;
  for (let at = 0; at < inputs.reference.length; at += 500) await table.insert(inputs.reference.slice(at, at + 500));
}

async function waitForJoin({ cloud, signal }: Run): Promise<void> {
  const deadline = Date.now() + 60_000;
  while ((await joinPosition(cloud.clients.firestore, JOIN)) === null) {
    signal.throwIfAborted();
    if (Date.now() > deadline) throw new Error('the join does not begin; see the log of the function join');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function memory(cloud: Cloud): Promise<Report['functions']> {
  const entries = Object.entries(cloud.functions);
  await Promise.all(entries.map(([, one]) => one.sample()));
  return Object.fromEntries(entries.map(([name, one]) => [name, { peakMemory: one.peakMemory, starts: one.starts }]));
}
