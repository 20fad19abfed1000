import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Message } from '@google-cloud/pubsub';
import { startCloud, type Cloud } from '../../local/cloud.ts';
import { Chaos } from '../../local/demo/chaos.ts';
import { select } from '../../local/demo/observe.ts';
import { prepare } from '../../local/demo/prepare.ts';
import { publish } from '../../local/demo/publish.ts';
import { dueKeys, joinPosition, waitUntilQuiet } from '../../local/demo/quiet.ts';
import { DEMO_SETTINGS } from '../../local/demo/settings.ts';
import { toldToEnd } from '../../local/ending.ts';
import { subscriptionOf, topicsOf } from '../../local/joins.ts';
import { DATASET } from '../../local/resources.ts';
import { AIRLINES, expected, PLANE_FIELDS, planeRows, PLANES, type Flight, type Row } from './flights.ts';

/**
 * The two joins of examples/ on the whole local cloud: recorded flights through Pub/Sub, shuffled and repeated, while
 * functions are killed, calls refused, answers lost and messages delivered twice. What was received is compared with
 * what the files alone say.
 *
 *     node scripts/build.ts && node test/join/chaos.ts --seed 1 [--events FILE] [--planes FILE]
 *
 * Ends with 0 when every result came, right and under one id with one content.
 */

const ROOT = path.resolve(import.meta.dirname, '../../examples');
const FLIGHTS = path.resolve(import.meta.dirname, '../../local/sample/flights.ndjson.gz');
/** The replay lasts about so long, so that there is something to disturb; */
const SECONDS = 8;
/** trouble goes on until most results are there, but not for ever. */
const MORE_SECONDS = 20;

interface Result {
  readonly id: string;
  readonly messageId: string;
  readonly join: string;
  readonly data: string;
}

function linesOf(file: string): string[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.split('\n').filter((line) => line !== '');
}

function receive(cloud: Cloud): { results: Result[]; close: () => Promise<void> } {
  const results: Result[] = [];
  const subscriptions = topicsOf(cloud.joins).map((topic) => cloud.clients.pubsub.subscription(subscriptionOf(topic)));
  for (const subscription of subscriptions) {
    subscription.on('message', (message: Message) => {
      const { attributes, data, id: messageId } = message;
      results.push({ id: attributes['result_id']!, messageId, join: attributes['join']!, data: data.toString() });
      message.ack();
    });
    subscription.on('error', (error: Error) => console.error(error.message));
  }
  return { results, close: async () => void (await Promise.all(subscriptions.map((one) => one.close()))) };
}

/** The least position of the joins; null before each had its first run. */
async function position(cloud: Cloud): Promise<number | null> {
  const all = await Promise.all(cloud.joins.map(({ name }) => joinPosition(cloud.clients.firestore, name)));
  return all.reduce<number | null>((least, one) => (least === null || one === null ? null : Math.min(least, one)), Infinity); // prettier-ignore
}

/** Differences between what came and what had to come, and how often ids came again. */
function compare(results: readonly Result[], wanted: ReturnType<typeof expected>) {
  const contents = new Map<string, string>();
  const messages = new Set<string>();
  const came = new Map<string, Map<string, string>>();
  let [conflicts, again] = [0, 0];
  for (const { id, messageId, join, data } of results) {
    if (messages.has(messageId)) continue;
    messages.add(messageId);
    const known = contents.get(id);
    if (known !== undefined) again++;
    if (known !== undefined && known !== data) conflicts++;
    contents.set(id, data);
    const { unique_key, event_id } = JSON.parse(data) as Row;
    if (!came.has(join)) came.set(join, new Map());
    came.get(join)!.set(JSON.stringify([unique_key, event_id]), data);
  }
  const differences: string[] = [];
  let count = 0;
  for (const [join, rows] of wanted) {
    const found = came.get(join) ?? new Map<string, string>();
    count += rows.size;
    for (const key of new Set([...rows.keys(), ...found.keys()])) {
      if (rows.get(key) !== found.get(key))
        differences.push(`${join} ${key}: ${found.get(key) ?? 'nothing'} and should be ${rows.get(key) ?? 'nothing'}`);
    }
  }
  return { expected: count, ids: contents.size, messages: messages.size, again, conflicts, differences };
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' }, events: { type: 'string' }, planes: { type: 'string' } } }); // prettier-ignore
  const seed = Number(values.seed);
  const recorded = linesOf(values.events ?? FLIGHTS);
  const planes = values.planes === undefined ? PLANES : linesOf(values.planes).map((line) => JSON.parse(line) as Row);
  const { signal } = toldToEnd();
  const chaos = new Chaos(seed);
  const now = (): number => Date.now() * 1000;
  const settings = { ...DEMO_SETTINGS, COMPLETION_STATUSES: 'arrived,cancelled' };
  const cloud = await startCloud({ root: ROOT, faults: chaos.hook, settings, everySeconds: { join: 2, sweep: 5 } });
  const receiver = receive(cloud);
  try {
    const { bigquery, firestore, pubsub } = cloud.clients;
    const dataset = bigquery.dataset(DATASET);
    await dataset.createTable('planes', { schema: { fields: PLANE_FIELDS } });
    await dataset.table('planes').insert(planeRows(planes));
    await dataset
      .table('reference')
      .insert(AIRLINES.map(({ join_key, name }) => ({ join_key, target_attribute: name, updated_at: null })));
    // A join begins at the moment of its first run.
    while ((await position(cloud)) === null) {
      await sleep(100, undefined, { signal });
    }
    const { lines, repeats } = prepare(recorded, { now: now(), asRecorded: false, shuffle: seed, repeat: 0.02, days: null }); // prettier-ignore
    const began = Date.now();
    // Every other victim is the join.
    const { join, ...others } = cloud.functions;
    chaos.start(Object.values(others).flatMap((one) => [one, join]));
    await publish(pubsub, lines, { rate: lines.length / SECONDS, signal, onProgress: () => undefined });
    const most = recorded.length * cloud.joins.length * 0.9;
    const deadline = Date.now() + MORE_SECONDS * 1000;
    while (receiver.results.length < most && Date.now() < deadline) await sleep(100, undefined, { signal });
    await chaos.stop();
    const look = async () => ({
      backlog: cloud.backlog(),
      dueKeys: await dueKeys(firestore, now()),
      joinPosition: await position(cloud),
    });
    await waitUntilQuiet({ signal, now, look, onLook: () => undefined });
    const seconds = (Date.now() - began) / 1000;
    const flights = recorded.map((line) => JSON.parse(line) as Flight);
    const { differences, ...found } = compare(receiver.results, expected(flights, planes));
    const ledger = await select(
      bigquery,
      `SELECT COUNT(*) AS n, COUNT(DISTINCT result_id) AS ids FROM ${DATASET}.joined`,
    );
    const starts = Object.fromEntries(Object.entries(cloud.functions).map(([name, one]) => [name, one.starts]));
    for (const one of differences.slice(0, 5)) console.log(one);
    const right =
      differences.length === 0 &&
      found.conflicts === 0 &&
      found.ids === found.expected &&
      ledger[0]!['n'] === found.ids;
    console.log(JSON.stringify({ seed, right, published: lines.length, repeats, ...found, ledger: ledger[0], differences: differences.length, seconds, chaos: chaos.counts, starts })); // prettier-ignore
    return right ? 0 : 1;
  } finally {
    await receiver.close();
    await cloud.stop();
  }
}

process.exitCode = await main();
