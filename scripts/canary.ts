import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BigQuery } from '@google-cloud/bigquery';
import { PubSub } from '@google-cloud/pubsub';
import { loadConfig } from '../functions/config.ts';
import { surroundings } from './canary/clients.ts';
import { canary } from './canary/run.ts';

/** `npm run canary`. Exit codes: 0 all is there, 1 something is not, 2 wrong command line. */

const HELP = `npm run canary -- --project ID [options]

Publishes one event that completes a key of its own, and waits until its row and its summary are in BigQuery.

  --project ID       where to, as you (application default credentials)
  --dataset ID       codaflow by default
  --events-topic ID  events by default
  --wait SECONDS     how long, 180 by default

Where they are set otherwise than by default, say EVENT_FIELDS and COMPLETION_STATUSES in the environment.
`;

const say = (text: string) => process.stdout.write(`${text}\n`);

function options(args: readonly string[]) {
  const string = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { project: string, dataset: string, 'events-topic': string, wait: string, help: { type: 'boolean' } },
  });
  if (values.help === true) return 'help';
  const seconds = values.wait ?? '180';
  if (!/^\d{1,5}$/.test(seconds)) throw new Error('--wait: expected a number of seconds');
  const { project, dataset = 'codaflow', 'events-topic': topic = 'events' } = values;
  if (project === undefined) throw new Error('--project is missing (--help describes it)');
  const { EVENT_FIELDS, COMPLETION_STATUSES } = process.env;
  const config = loadConfig({
    ...{ PROJECT_ID: project, DATASET: dataset, EVENTS_TOPIC: topic },
    ...{ EVENT_FIELDS, COMPLETION_STATUSES },
  });
  return { config, waitMs: Number(seconds) * 1000 };
}

async function main({ config, waitMs }: Exclude<ReturnType<typeof options>, 'help'>): Promise<number> {
  const pubsub = new PubSub({ projectId: config.projectId });
  try {
    const clients = surroundings(pubsub, new BigQuery({ projectId: config.projectId }), config);
    const rest = { now: () => Date.now(), sleep: (ms: number) => sleep(ms) };
    const { key, event, summary } = await canary({ ...clients, ...rest }, config, waitMs);
    if (event && summary) {
      say(`${key} is in events_unique and in summaries_latest`);
      return 0;
    }
    const missing = [...(event ? [] : ['events_unique']), ...(summary ? [] : ['summaries_latest'])];
    say(`${key} is not in ${missing.join(' and ')} after ${waitMs / 1000} s`);
    return 1;
  } finally {
    await pubsub.close();
  }
}

function fail(error: unknown, code: number): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = code;
}

let given: ReturnType<typeof options> | null = null;
try {
  given = options(process.argv.slice(2));
} catch (error) {
  fail(error, 2);
}
if (given === 'help') process.stdout.write(HELP);
else if (given !== null) {
  try {
    process.exitCode = await main(given);
  } catch (error) {
    fail(error, 1);
  }
}
