import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCloud, type Cloud } from '../../local/cloud.ts';
import { select } from '../../local/demo/observe.ts';
import { DEMO_SETTINGS } from '../../local/demo/settings.ts';
import { LOCATION, PROJECT, REGION } from '../../local/resources.ts';
import type { Call, Fault } from '../../local/shared/faults.ts';
import { tasksClient } from '../../local/writes.ts';
import { Recorder } from './recorder.ts';

export interface Recording {
  /** Calls of each function: API and method, then what it acted on. */
  readonly calls: Record<string, string[]>;
  /** Lines that the functions logged. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Runs the six functions, each a process, until every kind of call was made by every function that makes it: all ways of
 * events, keys, joins and watches, and of what goes wrong with them.
 */
export async function record(): Promise<Recording> {
  const logDir = mkdtempSync(path.join(tmpdir(), 'codaflow-recording-'));
  const recorder = new Recorder();
  const cloud = await startCloud({
    callers: true,
    logDir,
    settings: { ...DEMO_SETTINGS, SILENCE_DEADLINE: '2s', WATCH_SLACK: '1s', IDS_INLINE: '1', WAKE_SHARDS: '2' },
    everySeconds: { join: 1, sweep: 1 },
    faults: trouble(),
    reach: (name, servers) => recorder.reach(name, servers),
  });
  try {
    await drive(cloud);
    return {
      calls: recorder.calls(),
      lines: readdirSync(logDir).flatMap((file) => readLines(path.join(logDir, file))),
    };
  } finally {
    recorder.close();
    await cloud.stop();
    rmSync(logDir, { recursive: true, force: true });
  }
}

/** Lines of a log that are JSON; the last may be half written. */
function readLines(file: string): Record<string, unknown>[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Joined rows that Pub/Sub refuses become dead letters; the task of a watch that is lost is sweep's to replace. */
function trouble(): (call: Call) => Fault | undefined {
  let lost = false;
  return ({ method, resource }) => {
    if (method === 'Publish' && resource.endsWith('/results')) return { kind: 'refuse', code: 3 };
    if (method !== 'CreateTask' || !resource.includes('codaflow-poll') || lost) return undefined;
    lost = true;
    return { kind: 'refuse' };
  };
}

async function drive(cloud: Cloud): Promise<void> {
  const { pubsub, bigquery } = cloud.clients;
  const publish = (topic: string, data: string) => pubsub.topic(topic).publishMessage({ data: Buffer.from(data) });
  const event = (uniqueKey: string, eventId: string, status: string) =>
    JSON.stringify({ unique_key: uniqueKey, event_id: eventId, event_status: status, timestamp: new Date().toISOString() }); // prettier-ignore
  const watch = (id: string, jobId: string) =>
    JSON.stringify({ watch_id: id, unique_key: id, interval: '1s', probe: { type: 'bigquery_job', job_id: jobId } });

  for (const id of ['1', '2', '3']) await publish('events', event('finished', id, 'started'));
  await publish('events', event('finished', '4', 'completed'));
  await publish('events', event('silent', '1', 'started'));
  await publish('events', 'no JSON');

  const tasks = tasksClient(cloud.tasks!.address);
  try {
    const parent = tasks.queuePath(PROJECT, REGION, 'codaflow-urgent');
    for (const body of [event('submitted', '1', 'completed'), 'no JSON']) {
      const httpRequest = { url: 'https://submit.invalid/', httpMethod: 'POST' as const, body: Buffer.from(body) };
      await tasks.createTask({ parent, task: { httpRequest } });
    }
  } finally {
    await tasks.close();
  }

  const [job] = await bigquery.createQueryJob({ query: 'SELECT 1', location: LOCATION });
  for (const id of ['watched', 'watched-too']) await publish('watches', watch(id, job.id!));
  await publish('watches', '{}');

  const asked = (sql: string) => async (): Promise<boolean> => (await select(bigquery, sql)).length > 0;
  const states: Readonly<Record<string, () => Promise<boolean>>> = {
    'a key is finished': asked(`SELECT 1 FROM summaries_latest WHERE unique_key = 'finished' AND state = 'finished'`),
    'a key expired': asked(`SELECT 1 FROM summaries_latest WHERE unique_key = 'silent' AND state = 'expired'`),
    'a write was submitted': asked(`SELECT 1 FROM summaries_latest WHERE unique_key = 'submitted'`),
    'watches are ready': asked(`SELECT 1 FROM events_unique WHERE unique_key LIKE 'watched%' HAVING COUNT(*) = 2`),
    'dead letters of ingest, submit, poll and join': asked(`SELECT 1 FROM dead_letters HAVING COUNT(*) >= 4`),
  };
  for (const [state, holds] of Object.entries(states)) {
    for (let waited = 0; !(await holds()); waited++) {
      assert.ok(waited < 300, `never came: ${state}`);
      await sleep(100);
    }
  }
}
