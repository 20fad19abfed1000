import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { loadConfig } from '../functions/config.ts';

/**
 * What there is in the cloud besides the functions. Schemas and views are the very files that Terraform deploys; the
 * names and the layout of tables follow terraform/.
 */

export const PROJECT = 'codaflow-local';
export const DATASET = 'codaflow';
export const DATABASE = 'codaflow';
export const LOCATION = 'US';
export const REGION = 'us-central1';
export const TOPICS = ['events', 'completions', 'summaries', 'dead-letters', 'results'] as const;

const TERRAFORM = path.resolve(import.meta.dirname, '../terraform');

interface Layout {
  readonly partition?: string;
  readonly cluster?: readonly string[];
}

const LAYOUTS: Readonly<Record<string, Layout>> = {
  events: { partition: 'event_time', cluster: ['unique_key', 'event_id'] },
  summaries: { partition: 'written_at', cluster: ['unique_key'] },
  joined: { partition: 'event_time', cluster: ['join_name', 'run_id'] },
  dead_letters: { partition: 'publish_time' },
  reference: {},
};

export interface TableDefinition extends Layout {
  readonly name: string;
  /** Fields as the BigQuery API takes them. */
  readonly schema: object[];
}

export function tables(): TableDefinition[] {
  return Object.entries(LAYOUTS).map(([name, layout]) => ({
    name,
    schema: JSON.parse(readFileSync(path.join(TERRAFORM, 'schemas', `${name}.json`), 'utf8')) as object[],
    ...layout,
  }));
}

/**
 * The views, as Terraform deploys them with these settings. Partitions do not expire here: `events_days` and
 * `summaries_days`, of which `kept` may name others, are longer than events are accepted.
 */
export function views(
  settings: Readonly<Record<string, string>> = {},
  kept: Readonly<Partial<Record<'events_days' | 'summaries_days', number>>> = {},
): { readonly name: string; readonly query: string }[] {
  const { silence, retention } = loadConfig({ PROJECT_ID: PROJECT, ...settings });
  const values: Readonly<Record<string, string | number>> = {
    dataset: `${PROJECT}.${DATASET}`,
    silence_seconds: Math.ceil(silence / 1e6),
    retention_seconds: Math.ceil(retention / 1e6),
    events_days: 36_500,
    summaries_days: 36_500,
    ...kept,
  };
  const folder = path.join(TERRAFORM, 'sql');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => ({
      name: path.basename(file, '.sql'),
      query: readFileSync(path.join(folder, file), 'utf8').replace(/\$\{(\w+)\}/g, (_, name: string) =>
        String(values[name]),
      ),
    }));
}

export interface PushSubscription {
  readonly name: string;
  readonly topic: (typeof TOPICS)[number] | 'watches';
  /** The function that it calls. */
  readonly target: 'ingest' | 'finish' | 'poll';
}

export const PUSH: readonly PushSubscription[] = [
  { name: 'events-ingest', topic: 'events', target: 'ingest' },
  { name: 'completions-finish', topic: 'completions', target: 'finish' },
];
/** Only where there is Cloud Tasks. */
export const WATCHES: PushSubscription = { name: 'watches-poll', topic: 'watches', target: 'poll' };
export const DEAD_LETTERS_SUBSCRIPTION = 'dead-letters-bigquery';
export const RESULTS_SUBSCRIPTION = 'results-local';

export const POLL_QUEUE = 'codaflow-poll';
/** The queues with the rates that Terraform gives them by default. */
export const QUEUES = {
  'codaflow-urgent': { maxDispatchesPerSecond: 100, maxConcurrentDispatches: 200 },
  'codaflow-bulk': { maxDispatchesPerSecond: 50, maxConcurrentDispatches: 100 },
  [POLL_QUEUE]: { maxDispatchesPerSecond: 50, maxConcurrentDispatches: 100 },
} as const;
/** Seven days, as in the cloud; there a task waits 10 to 600 s after a failure. */
export const QUEUE_RETRIES = {
  maxAttempts: -1,
  maxRetryDuration: { seconds: 7 * 86_400 },
  minBackoff: { nanos: 200e6 },
  maxBackoff: { seconds: 5 },
  maxDoublings: 6,
};

/** In the cloud; a local cloud runs it more often. */
export const SWEEP_SCHEDULE = '* * * * *';

export const ACK_DEADLINE_SECONDS = 90;
export const RETENTION_SECONDS = 7 * 86_400;
export const MAX_DELIVERY_ATTEMPTS = 100;
/** Redelivery after a failure: 10 to 600 s in the cloud; a person who watches should not wait for that. */
export const BACKOFF_MS = { minimum: 200, maximum: 5_000 };
