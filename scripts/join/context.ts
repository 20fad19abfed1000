import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../functions/config.ts';
import { isOwnTopic, loadJoins } from '../../functions/gcp/joins.ts';
import { createRuntime } from '../../functions/gcp/runtime.ts';
import type { JoinContext } from '../../functions/join/context.ts';
import { tablesOf } from '../../functions/join/tables.ts';
import type { LogEntry } from '../../functions/log.ts';
import { DEMO_SETTINGS } from '../../local/demo/settings.ts';
import { PROJECT } from '../../local/resources.ts';
import { runningCloud } from '../../local/running.ts';
import { UsageError, type Options } from './options.ts';

const JOINS = path.resolve(import.meta.dirname, '../../joins');

/** The joins of this folder, as the functions run them; `log` gets what the functions would log. */
export async function contexts(options: Options, log: (entry: LogEntry) => void): Promise<readonly JoinContext[]> {
  if (options.project === null) await useLocalCloud();
  const config = loadConfig({
    ...process.env,
    PROJECT_ID: options.project ?? PROJECT,
    DATASET: options.dataset,
    ...(options.location === null ? {} : { LOCATION: options.location }),
  });
  const topic = options.command === 'backfill' ? options.topic : null;
  if (topic !== null && isOwnTopic(topic, config))
    throw new UsageError(`--topic ${topic} is one of Codaflow's own; joined rows need a topic of their own`);
  const clock = { now: () => Date.now() * 1000, sleep: (ms: number, signal?: AbortSignal) => pause(ms, signal) };
  const runtime = await createRuntime({ config, log, clock }, ['clock', 'ids', 'store', 'bus', 'warehouse']);
  return [...loadJoins(config, JOINS).values()].map((found) => {
    const join = topic === null ? found : { ...found, topic };
    return { join, tables: tablesOf(join, config), config, ports: runtime.ports, log };
  });
}

async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal === undefined ? {} : { signal });
}

/** Points the clients at the local cloud that runs, with the settings that its functions have. */
async function useLocalCloud(): Promise<void> {
  try {
    Object.assign(process.env, await runningCloud(), DEMO_SETTINGS, { METADATA_SERVER_DETECTION: 'none' });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}, or say --project ID for Google Cloud`);
  }
}
