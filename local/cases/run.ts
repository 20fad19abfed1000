import { setTimeout as sleep } from 'node:timers/promises';
import type { Cloud } from '../cloud.ts';
import { select } from '../demo/observe.ts';
import { reasonOf } from '../demo/verdict.ts';
import type { Case, CaseMessage } from './format.ts';

/** Must be the name that the functions give to the original text of a time that they converted. */
const NORMALISED = 'codaflow.timestamp';

export interface Outcome {
  /** `accept`, `accept_normalised`, `dead_letter`, or what else became of the messages. */
  readonly outcome: string;
  /** Reasons of the dead letters. */
  readonly reasons: readonly string[];
}

/**
 * Runs one case on a cloud at rest, and takes away the state of its keys afterwards: cases use the same keys and ids.
 * Rows stay; those of a case are told by their time.
 */
export async function runCase(cloud: Cloud, one: Case): Promise<Outcome> {
  // Dead letters have times in milliseconds: no two cases in one.
  await sleep(2);
  const start = Date.now();
  const changed = Object.keys(one.env).length > 0;
  if (changed) await restart(cloud, one.env);
  for (const message of one.messages) await send(cloud, message);
  await cloud.pubsub.waitIdle();
  if (changed) await restart(cloud, {});
  const outcome = await observe(cloud, start, one.messages.length);
  await forget(cloud);
  return outcome;
}

async function restart({ functions: { ingest } }: Cloud, env: Readonly<Record<string, string>>): Promise<void> {
  await ingest.kill();
  await ingest.start(env);
}

async function send(cloud: Cloud, message: CaseMessage): Promise<void> {
  if (message.kind === 'message') {
    const { data, attributes } = message;
    await cloud.clients.pubsub
      .topic('events')
      .publishMessage({ data: data ?? Buffer.alloc(0), attributes: { ...attributes } });
    return;
  }
  const answer = await fetch(cloud.functions.ingest.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(message.body),
  });
  await answer.arrayBuffer();
}

async function observe(cloud: Cloud, start: number, sent: number): Promise<Outcome> {
  const { bigquery } = cloud.clients;
  const since = `TIMESTAMP '${new Date(start).toISOString()}'`;
  const events = await select(bigquery, `SELECT extra FROM events WHERE ingest_time >= ${since}`);
  const letters = await select(bigquery, `SELECT attributes FROM dead_letters WHERE publish_time >= ${since}`);
  const reasons = letters.map(reasonOf);
  const normalised = events.some(({ extra }) => typeof extra === 'string' && extra.includes(NORMALISED));
  if (events.length === sent && letters.length === 0) {
    return { outcome: normalised ? 'accept_normalised' : 'accept', reasons };
  }
  if (letters.length === sent && events.length === 0) return { outcome: 'dead_letter', reasons };
  return { outcome: `${events.length} stored and ${letters.length} dead letters of ${sent}`, reasons };
}

async function forget(cloud: Cloud): Promise<void> {
  const { firestore } = cloud.clients;
  const documents = await firestore.collection('sequences').listDocuments();
  for (const document of documents) await firestore.recursiveDelete(document);
}
