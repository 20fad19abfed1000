import { setTimeout as sleep } from 'node:timers/promises';
import type { Cloud } from '../cloud.ts';
import { DATASET, RESULTS_SUBSCRIPTION } from '../resources.ts';
import type { Chaos } from './chaos.ts';
import type { Console } from './console.ts';
import type { EventLog } from './event-log.ts';
import { completionHint, fieldsHint } from './hints.ts';
import type { Inputs } from './inputs.ts';
import { JOIN } from './join.ts';
import { count } from './observe.ts';
import type { Options } from './options.ts';
import { prepare } from './prepare.ts';
import { publish } from './publish.ts';
import { describe, dueKeys, joinPosition, waitUntilQuiet } from './quiet.ts';
import { Receiver } from './receive.ts';
import { progressBar } from './report.ts';
import { counted } from './words.ts';

/** A replay with chaos lasts at least this long, so that there is something to disturb. */
const CHAOS_SECONDS = 8;
/** and at most so much longer than it. */
const CHAOS_AFTER_MS = 60_000;

export interface Run {
  readonly cloud: Cloud;
  readonly inputs: Inputs;
  readonly options: Options;
  /** Days to move the times by, from an earlier run; null when there was none. */
  readonly days: number | null;
  /** Told before anything is published. */
  readonly onPrepared: (days: number) => void;
  readonly log: EventLog;
  readonly console: Console;
  readonly chaos: Chaos | null;
  readonly signal: AbortSignal;
}

export interface Replayed {
  /** Ids of the messages that were published. */
  readonly ids: readonly string[];
  /** Lines that were published by an earlier run. */
  readonly known: number;
  readonly days: number;
  readonly hint: string | null;
  readonly seconds: { readonly replay: number; readonly settle: number };
}

const nowMicros = (): number => Date.now() * 1000;

/** Replays what the options name, and waits until everything that was ever published is through. */
export async function replay(run: Run): Promise<Replayed> {
  const { cloud, inputs, options, console, chaos, signal, log } = run;
  const { pubsub, firestore } = cloud.clients;
  // A file keeps the times that it has in the folder.
  const asRecorded = options.asRecorded && run.days === null;
  const prepared = prepare(inputs.lines, {
    ...options,
    asRecorded,
    now: nowMicros(),
    days: run.days,
    names: inputs.names,
  });
  run.onPrepared(prepared.days);
  const lines = options.again ? prepared.lines : unknown(prepared.lines, log);
  const known = prepared.lines.length - lines.length;
  announce(run, prepared, known);
  const hint = fieldsHint(inputs.lines, inputs.names) ?? completionHint(inputs.lines, inputs.completion, inputs.names);
  await loadReference(run);
  const receiver = new Receiver(pubsub, RESULTS_SUBSCRIPTION, (result) => log.receive(result));
  try {
    // A join begins at the moment of its first run.
    await waitForJoin(run);
    const start = Date.now();
    const rate = options.rate ?? (chaos === null ? null : Math.max(1, lines.length / CHAOS_SECONDS));
    chaos?.start(Object.values(cloud.functions));
    const bar = (done: number): string =>
      progressBar(done, lines.length, Math.max(10, Math.min(40, (console.width ?? 80) - 30)));
    const ids = await publish(pubsub, lines, {
      rate,
      signal,
      onProgress: (done) => console.status(`Publishing ${bar(done)}`),
    });
    const replayed = Date.now();
    if (lines.length > 0) console.done(`Published  ${bar(lines.length)}`);
    if (chaos !== null) {
      await mostlyThrough(run);
      await chaos.stop();
      console.done(`Chaos      ${summary(chaos)}`);
    }
    await waitUntilQuiet({
      signal,
      now: nowMicros,
      look: async () => ({
        backlog: waitedFor(cloud.backlog()),
        dueKeys: await dueKeys(firestore, nowMicros()),
        joinPosition: await joinPosition(firestore, JOIN),
      }),
      onLook: (pending) => console.status(`Processing ${describe(pending)}`),
    });
    const seconds = { replay: (replayed - start) / 1000, settle: (Date.now() - replayed) / 1000 };
    console.done('Processed  everything; comparing');
    return { ids, known, days: prepared.days, hint, seconds };
  } finally {
    await receiver.close();
  }
}

/** Results of other joins wait for whoever wants them. */
function waitedFor(backlog: Readonly<Record<string, number>>): Record<string, number> {
  const ours = ([name]: [string, number]): boolean => name === RESULTS_SUBSCRIPTION || !name.endsWith('-local');
  return Object.fromEntries(Object.entries(backlog).filter(ours));
}

/** The lines that no earlier run has published. */
function unknown(lines: readonly string[], { published }: EventLog): readonly string[] {
  if (published.length === 0) return lines;
  const before = new Set(published.map(({ data }) => data.toString('utf8')));
  return lines.filter((line) => !before.has(line));
}

function announce(
  { console, options, log }: Run,
  { lines, repeats, days }: ReturnType<typeof prepare>,
  known: number,
): void {
  // prettier-ignore
  const before = log.published.length;
  if (before > 0) {
    console.note(
      `${options.stateDir} has ${counted(before, 'message')} of earlier runs; the verdict is about all of them.`,
    );
  }
  if (known > 0) {
    console.note(
      `${counted(known, 'message')} of this file are among them and are not published again; --again would.`,
    );
  }
  if (lines.length > known) {
    const moved = days === 0 ? 'times as recorded' : `times moved by ${counted(days, 'day')}`;
    console.note(`${counted(lines.length - known, 'message')}${repeats > 0 ? `, ${counted(repeats, 'of them a repeat', 'of them repeats')}` : ''}; ${moved}`); // prettier-ignore
  }
}

/** Trouble goes on while messages wait, so that it meets the work itself, but not for ever. */
async function mostlyThrough({ cloud, console, signal }: Run): Promise<void> {
  const deadline = Date.now() + CHAOS_AFTER_MS;
  for (;;) {
    const waiting = Object.values(waitedFor(cloud.backlog())).reduce((sum, messages) => sum + messages, 0);
    if (waiting === 0 || Date.now() > deadline) return;
    console.status(`Chaos      ${counted(waiting, 'message')} on their way`);
    await sleep(250, undefined, { signal });
  }
}

function summary({ counts }: Chaos): string {
  const { killed, refused, answersLost, delayed, deliveredTwice } = counts;
  return [
    `${counted(killed, 'function')} killed`,
    `${counted(refused, 'call')} refused`,
    `${counted(answersLost, 'answer')} lost`,
    `${counted(delayed, 'call')} delayed`,
    `${counted(deliveredTwice, 'message')} delivered twice`,
  ].join(', ');
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
