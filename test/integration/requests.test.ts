import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { CloudProcess } from '../bench/cloud-process.ts';
import { COMPLETION, EventSource } from '../bench/events.ts';
import { load } from '../bench/load.ts';
import { ROOT, Subject } from '../bench/subject.ts';

/** Requests to a function process as it is deployed, past the framework's middleware and through it. */

const source = new EventSource();
let cloud: CloudProcess;

before(async () => {
  cloud = await CloudProcess.start();
});
after(async () => {
  await cloud.stop();
});

const start = (target: string): Promise<Subject> =>
  Subject.start({ target, source: ROOT, env: { ...cloud.env, COMPLETION_STATUSES: COMPLETION } });

async function status(url: string, body: string | Buffer | null, headers: Record<string, string> = {}) {
  const method = body === null ? 'GET' : 'POST';
  const json = { 'content-type': 'application/json', ...headers };
  const sent = typeof body === 'string' || body === null ? body : new Uint8Array(body);
  const response = await fetch(url, { method, body: sent, headers: json });
  await response.arrayBuffer();
  return response.status;
}

test('plain, compressed, broken and missing bodies of ingest', async () => {
  const ingest = await start('ingest');
  try {
    const push = source.push(0, 'bodies');
    assert.equal(await status(ingest.url, push), 204);
    assert.equal(await status(ingest.url, push.slice(0, -5)), 400, 'not JSON');
    assert.equal(await status(ingest.url, '{}'), 400, 'no message');
    assert.equal(await status(ingest.url, ''), 400, 'no body');
    const packed = gzipSync(source.push(1, 'bodies'));
    assert.equal(await status(ingest.url, packed, { 'content-encoding': 'gzip' }), 204, 'by way of the framework');
    assert.equal(await status(ingest.url, null), 400, 'no POST');
    assert.equal(await status(ingest.url, Buffer.alloc(33 * 2 ** 20, 32)), 413);
    const { 'bigquery.append_rows': rows } = await cloud.counts();
    assert.equal(rows, 2);
  } finally {
    await ingest.stop();
  }
});

test('a burst of large bodies is taken in part, and the rest is answered 429', async () => {
  const ingest = await start('ingest');
  try {
    const body = Buffer.alloc(12 * 2 ** 20, 32);
    const codes = await Promise.all(Array.from({ length: 30 }, () => status(ingest.url, body)));
    assert.ok(codes.includes(400) && codes.includes(429), String(codes));
    assert.deepEqual([...new Set(codes)].sort(), [400, 429]);
    assert.equal(await status(ingest.url, source.push(0, 'burst')), 204, 'what was held is given back');
  } finally {
    await ingest.stop();
  }
});

test('a question mark in a query is part of it', async () => {
  const submit = await start('submit');
  try {
    const answer = await fetch(`${submit.url}?unique_key=a?b`);
    assert.equal(((await answer.json()) as { unique_key: string }).unique_key, 'a?b');
  } finally {
    await submit.stop();
  }
});

test('on SIGTERM what is under way is finished and answered', async () => {
  const ingest = await start('ingest');
  const before = await cloud.counts(300);
  const rows = async () =>
    ((await cloud.counts())['bigquery.append_rows'] ?? 0) - (before['bigquery.append_rows'] ?? 0);
  try {
    const count = 40;
    const loaded = load({ url: ingest.url, inFlight: count, count, body: (n) => source.push(n, 'stop') });
    while ((await rows()) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const begin = performance.now();
    const stopped = ingest.stop();
    let late: Response;
    do {
      late = await fetch(ingest.url);
      await late.arrayBuffer();
    } while (late.status === 400);
    assert.equal(late.status, 503, 'what comes now may try again elsewhere');
    assert.ok(Number(late.headers.get('retry-after')) > 0);
    assert.equal(await stopped, 0);
    assert.ok(performance.now() - begin < 10_000);
    const { failures } = await loaded;
    const refused = Object.values(failures).reduce((sum, n) => sum + n, 0);
    // Whoever came too late may try again elsewhere; what was written is acknowledged.
    assert.equal(await rows(), count - refused);
  } finally {
    await cloud.counts(0);
    await ingest.stop('SIGKILL');
  }
});
