import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Fault } from '../../local/shared/faults.ts';
import { Setup } from './fixture.ts';

let broken: { method: string; fault: Fault } | null = null;
let setup: Setup;
before(async () => {
  setup = await Setup.start({
    faults: ({ method }) => (method === broken?.method ? broken.fault : undefined),
    // Not for submit, which has settings of its own.
    settings: { EVENT_FIELDS: 'unique_key=wrong' },
  });
});
after(() => setup.stop());

const now = new Date().toISOString();
const event = (id: string | undefined, changes: object = {}) => ({
  unique_key: 'order-1',
  event_id: id,
  event_status: 'started',
  timestamp: now,
  ...changes,
});
const codes = (results: readonly { outcome: string; code?: string }[] = []) => results.map((r) => r.code ?? r.outcome);
const TASK = { 'x-cloudtasks-taskname': 't-1', 'x-cloudtasks-queuename': 'urgent', 'content-type': 'application/json' };

describe('submit over the wire', () => {
  test('an array of good, repeated and bad events; the payload byte for byte; the state of the key', async () => {
    const payload = '{"n":1.0, "big":12345678901234567890}';
    const good = `{"payload":${payload},${JSON.stringify(event('e-1')).slice(1)}`;
    const body = `[${good}, ${good}, ${JSON.stringify(event('e-2', { event_status: 7 }))}]`;
    const { status, body: answer } = await setup.post(body);
    assert.equal(status, 200);
    assert.deepEqual(codes(answer.results), ['stored', 'repeated', 'wrong_type']);
    const rows = await setup.rows("SELECT payload FROM events_unique WHERE unique_key = 'order-1'");
    assert.deepEqual(rows, [{ payload }]);
    const state = await setup.get('order-1', 'e-1');
    assert.deepEqual([state['state'], state['events'], state['event']], ['open', 1, { event_id: 'e-1', held: true }]);
    assert.deepEqual((await setup.get('order-1', 'e-2'))['event'], { event_id: 'e-2', held: false });
  });

  test('while BigQuery fails 503, then 200', async () => {
    broken = { method: 'AppendRows', fault: { kind: 'refuse', code: 14 } };
    const task = { ...TASK, 'x-cloudtasks-taskname': 't-2' };
    const body = JSON.stringify([event(undefined, { unique_key: 'order-2' })]);
    const failed = await setup.post(body, task);
    assert.equal(failed.status, 503);
    assert.ok(Number(failed.retryAfter) > 0);
    broken = null;
    const answer = await setup.post(body, { ...task, 'x-cloudtasks-taskretrycount': '1' });
    assert.deepEqual([answer.status, codes(answer.body.results)], [200, ['stored']]);
    assert.deepEqual(await setup.rows("SELECT event_id FROM events_unique WHERE unique_key = 'order-2'"), [
      { event_id: 'urgent/t-2/0' },
    ]);
  });

  test('no parser of the framework answers before the function', async () => {
    const text = "{'unique_key': None}";
    const direct = await setup.post(text);
    assert.deepEqual([direct.status, direct.body.code], [400, 'invalid_json']);
    const task = await setup.post(text, TASK);
    assert.deepEqual([task.status, codes(task.body.results)], [200, ['invalid_json']]);
    const typeless = await fetch(setup.submit.url, { method: 'POST', body: Buffer.from(JSON.stringify(event('e-9'))) });
    assert.equal(typeless.status, 200);
    const body = gzipSync(JSON.stringify([event('e-9')]));
    const gzip = await fetch(setup.submit.url, { method: 'POST', body, headers: { 'content-encoding': 'gzip' } });
    assert.equal(gzip.status, 200);
  });
});

describe('redrive over the wire', () => {
  test('DEC-26: 100 dead letters of a wrong setting: interrupted, resumed, each stored once', async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'codaflow-redrive-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const ledger = path.join(folder, 'ids');
    const { ingest } = setup.cloud.functions;
    const since = new Date().toISOString();
    const topic = setup.cloud.clients.pubsub.topic('events');
    // Half of them without an id of their own; numbers that a JSON library would print otherwise.
    const texts = Array.from({ length: 100 }, (_, i) => {
      const text = JSON.stringify(event(i % 2 === 0 ? `e-${i}` : undefined, { unique_key: `lost-${i % 10}` }));
      return `{"n": ${i}.0,${text.slice(1)}`;
    });
    const publish = (text: string) => topic.publishMessage({ data: Buffer.from(text), attributes: { source: 'shop' } });
    const ids = await Promise.all(texts.map(publish));
    await setup.quiet();
    const kept = await setup.rows(
      "SELECT data, JSON_VALUE(attributes, '$.message_id') AS id FROM dead_letters WHERE JSON_VALUE(attributes, '$.source') = 'shop'",
    );
    assert.deepEqual(
      new Set(kept.map(({ id, data }) => `${String(id)} ${Buffer.from(String(data), 'base64').toString()}`)),
      new Set(ids.map((id, i) => `${id} ${texts[i]}`)),
    );
    await ingest.kill();
    await ingest.start({ EVENT_FIELDS: '' });

    const args = ['--reason', 'missing_key', '--from', since];
    const first = setup.redrive(ledger, ...args, '--rate', '20');
    await first.killAt(/20 of 100 published/);
    assert.match(first.output, /100 dead letters to publish again\n {2}100 {2}missing_key -> .*events/);
    const second = setup.redrive(ledger, ...args);
    assert.equal(await second.exit(), 0, second.output);
    assert.match(second.output, /left alone: redriven before/);
    const third = setup.redrive(ledger, ...args, '--dry-run');
    assert.equal(await third.exit(), 0, third.output);
    assert.match(third.output, /: 0 dead letters to publish again\n {2}100 {2}left alone/);

    await setup.quiet();
    const rows = await setup.rows(
      "SELECT extra, COUNT(*) AS n, MIN(JSON_VALUE(attributes, '$.source')) AS source FROM events_unique WHERE STARTS_WITH(unique_key, 'lost-') GROUP BY extra",
    );
    assert.equal(rows.length, 100);
    assert.deepEqual(new Set(rows.map(({ n, source }) => JSON.stringify([n, source]))), new Set(['[1,"shop"]']));
  });
});
