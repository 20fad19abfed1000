import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPEN, type Gate } from '../test/fakes/gate.ts';
import { TransientError } from './core/errors.ts';
import type { HttpAnswer, HttpRequest } from './http/handler.ts';
import { create } from './join.ts';
import { config, MINUTE, world } from './join/fixture.ts';
import type { LogEntry } from './log.ts';

const SCHEDULED = '2026-11-29T12:00:00Z';

function request(body: unknown): HttpRequest {
  return { method: 'POST', path: '/', headers: { 'x-cloudscheduler-scheduletime': SCHEDULED }, body, rawBody: null };
}

/** The function over a world, as one instance has it; the logs of a request with its answer. */
function instance(gate: Gate = OPEN, w = world()) {
  const { ports } = w.context(gate);
  const handler = create({ config, ports, log: () => undefined });
  const call = async (body: unknown): Promise<{ answer: HttpAnswer; logs: LogEntry[] }> => {
    const logs: LogEntry[] = [];
    return { answer: await handler(request(body), (entry) => void logs.push(entry)), logs };
  };
  return { w, call };
}

test('a tick answers 200 with what it did; every line names the join and the time of the schedule', async () => {
  const { w, call } = instance();
  await call({ join: 'enrich' });
  w.insert('e1');
  w.advance(2 * MINUTE);
  const { answer, logs } = await call({ join: 'enrich' });
  assert.equal(answer.status, 200);
  const report = { join: 'enrich', outcome: 'done', windows: 1, scans: 0, published: 1 };
  assert.deepEqual(answer.body, { ...report, position: String(w.now() - MINUTE) });
  assert.ok(logs.length >= 3);
  for (const line of logs) assert.deepEqual([line['join'], line['scheduled']], ['enrich', SCHEDULED], line.event);
});

test('a scan after a long stop is in the answer', async () => {
  const { w, call } = instance();
  await call(null);
  w.insert('e1');
  w.advance(8 * 24 * 60 * MINUTE);
  const { answer } = await call(null);
  assert.equal((answer.body as { scans: number }).scans, 1);
});

test('the only join need not be named; one that is not there is a 404 that lists them', async () => {
  const { call } = instance();
  assert.equal((await call(null)).answer.status, 200);
  const { answer } = await call({ join: 'other' });
  assert.equal(answer.status, 404);
  assert.match(JSON.stringify(answer.body), /enrich/);
  assert.equal((await call({ join: 5 })).answer.status, 404);
});

test('another run that is alive is a 200', async () => {
  const w = world();
  let inside: HttpAnswer | undefined;
  const other = instance(OPEN, w);
  const gate: Gate = {
    ...OPEN,
    before: async ({ method }) => {
      if (method === 'now') inside ??= (await other.call(null)).answer;
    },
  };
  await instance(gate, w).call(null);
  assert.deepEqual([inside!.status, (inside!.body as { outcome: string }).outcome], [200, 'busy']);
});

test('a failure is a 503 with its reason in answer and log: the next tick goes on', async () => {
  const gate: Gate = {
    ...OPEN,
    before: async ({ port }) => {
      if (port === 'warehouse') throw new TransientError('unavailable', 'no BigQuery today');
    },
  };
  const { answer, logs } = await instance(gate).call(null);
  assert.equal(answer.status, 503);
  assert.match(JSON.stringify(answer.body), /no BigQuery today/);
  assert.ok(answer.headers!['retry-after']);
  const failed = logs.find(({ event }) => event === 'join.failed')!;
  assert.deepEqual([failed.severity, failed['scheduled']], ['ERROR', SCHEDULED]);
});
