import assert from 'node:assert/strict';
import { on } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Message, Subscription } from '@google-cloud/pubsub';
import type { Addresses } from '../../local/clients.ts';
import { startCloud, type Cloud } from '../../local/cloud.ts';
import { select } from '../../local/demo/observe.ts';
import { DEMO_SETTINGS } from '../../local/demo/settings.ts';
import { NODE_SETTINGS } from '../../local/functions.ts';
import { LOCATION } from '../../local/resources.ts';
import { makeCertificate, withoutOpenssl } from './certificate.ts';
import { Google } from './google.ts';
import { Metadata } from './metadata.ts';

/**
 * The functions as they run in the cloud: no address of a local server, credentials from the metadata server, TLS. Only
 * where Google's names lead is another place.
 */
describe('the bundle with credentials', { skip: withoutOpenssl, timeout: 60_000 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'codaflow-credentials-'));
  const metadata = new Map<string, Metadata>();
  const subscriptions: Subscription[] = [];
  let google: Google | undefined;
  let cloud: Cloud;

  before(async () => {
    const { file, ...certificate } = makeCertificate(folder);
    const knows = (token: string) => [...metadata.values()].some(({ tokens }) => tokens.includes(token));
    const reach = async (name: string, servers: Addresses): Promise<Addresses> => {
      google ??= await Google.start(certificate, servers, knows);
      const own = await Metadata.start(name);
      metadata.set(name, own);
      const env = {
        METADATA_SERVER_DETECTION: 'assume-present',
        GCE_METADATA_HOST: own.address,
        GOOGLE_PORT: String(google.port),
        NODE_EXTRA_CA_CERTS: file,
        NODE_OPTIONS: `${NODE_SETTINGS.NODE_OPTIONS} --import ${pathToFileURL(path.join(import.meta.dirname, 'preload.ts')).href}`,
      };
      // In place of the addresses of the servers.
      return env as unknown as Addresses;
    };
    cloud = await startCloud({
      callers: true,
      settings: DEMO_SETTINGS,
      everySeconds: { join: 3600, sweep: 3600 },
      reach,
    });
  });
  after(async () => {
    for (const subscription of subscriptions) await subscription.close();
    await cloud?.stop();
    google?.stop();
    for (const one of metadata.values()) one.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function post(name: keyof Cloud['functions'], body: object): Promise<{ status: number; text: string }> {
    const headers = { 'content-type': 'application/json' };
    const sent = await fetch(cloud.functions[name]!.url, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: sent.status, text: await sent.text() };
  }

  /** From now on; what it gives resolves when a message with this text has come. */
  async function subscribe(topic: string): Promise<(text: string) => Promise<void>> {
    const [subscription] = await cloud.clients.pubsub.topic(topic).createSubscription(`seen-${topic}`);
    subscriptions.push(subscription);
    const signal = AbortSignal.timeout(30_000);
    const messages = on(subscription, 'message', { signal }) as AsyncIterable<[Message]>;
    return async (text) => {
      try {
        for await (const [message] of messages) {
          message.ack();
          if (message.data.includes(text)) return;
        }
      } catch (cause) {
        throw new Error(`nothing with ${text} in ${topic}\n${trouble().join('\n')}`, { cause });
      }
    };
  }

  const trouble = (): string[] =>
    Object.values(cloud.functions).flatMap(({ lines }) =>
      lines.filter((line) => /"(WARNING|ERROR|CRITICAL)"/.test(line)),
    );

  const event = (key: string, id: string, status: string) => ({
    unique_key: key,
    event_id: id,
    event_status: status,
    timestamp: new Date().toISOString(),
  });
  const push = (data: object) => ({
    message: { data: Buffer.from(JSON.stringify(data)).toString('base64'), messageId: '1' },
    subscription: 'projects/p/subscriptions/s',
  });

  test('each function does its work, with a token in every call', async () => {
    const [summary, result, outcome] = await Promise.all(['summaries', 'results', 'events'].map(subscribe));
    const join = await post('join', { join: 'enrich' });
    assert.equal(join.status, 200, join.text);

    const ingested = [await post('ingest', push(event('pushed', '1', 'started')))];
    ingested.push(await post('ingest', push(event('pushed', '2', 'completed'))));
    for (const { status, text } of ingested) assert.equal(status, 204, text);
    await summary!('pushed');

    const submitted = await post('submit', event('submitted', '1', 'completed'));
    assert.equal(submitted.status, 200, submitted.text);

    const [job] = await cloud.clients.bigquery.createQueryJob({ query: 'SELECT 1', location: LOCATION });
    const probe = { type: 'bigquery_job', job_id: job.id };
    const watch = await post('poll', { watch_id: 'w', unique_key: 'watched', interval: '1s', probe });
    assert.equal(watch.status, 201, watch.text);
    await outcome!('watched');

    assert.equal((await post('sweep', {})).status, 200);
    const published = result!('pushed');
    let report: { readonly published?: number };
    do {
      const { status, text } = await post('join', { join: 'enrich' });
      assert.equal(status, 200, text);
      report = JSON.parse(text) as typeof report;
    } while (!(report.published! > 0));
    await published;

    const rows = await select(cloud.clients.bigquery, `SELECT total_steps FROM summaries_latest WHERE unique_key = 'pushed'`); // prettier-ignore
    assert.deepEqual(
      rows.map(({ total_steps: steps }) => Number(steps)),
      [2],
    );

    const { calls } = google!;
    const called: Record<string, string[]> = {};
    for (const { host, method, authorization, routed } of calls) {
      const [, name] = /^Bearer token-\d+-of-(\w+)$/.exec(authorization ?? '') ?? [];
      assert.ok(name !== undefined, `${host} ${method} without a token: ${authorization}`);
      assert.ok(routed, `${host} ${method} of ${name} does not say what it acts on`);
      const api = host.replace('.googleapis.com', '');
      called[name] = [...new Set([...(called[name] ?? []), api])].sort();
    }
    const writes = ['bigquerystorage', 'firestore', 'pubsub'];
    assert.deepEqual(called, {
      ingest: writes,
      finish: writes,
      submit: writes,
      join: ['bigquery', 'firestore', 'pubsub'],
      poll: ['bigquery', 'cloudtasks', 'firestore', 'pubsub'],
      sweep: ['firestore'],
    });
  });

  test('a token is used until it is about to expire, then replaced', () => {
    const of = (name: string) => google!.calls.filter(({ authorization }) => authorization?.endsWith(`-of-${name}`));
    const firestore = of('ingest').filter(({ host }) => host.startsWith('firestore.'));
    assert.ok(new Set(firestore.map(({ authorization }) => authorization)).size > 1);
    assert.ok(metadata.get('join')!.tokens.length < of('join').length / 2);
  });
});
