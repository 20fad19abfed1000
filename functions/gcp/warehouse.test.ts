import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { loadConfig } from '../config.ts';
import type { Warehouse } from '../ports.ts';
import { createClock } from './clock.ts';
import { createWarehouse } from './warehouse.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

/** What the server answers: a status and the reason that BigQuery would give; null is a page of one row. */
let refusal: readonly [status: number, reason: string] | null;
let requests = 0;
const server = http.createServer((request, response) => {
  requests++;
  if (refusal === null) {
    const page = {
      jobComplete: true,
      schema: { fields: [{ name: 'a' }] },
      rows: [{ f: [{ v: '1' }] }],
      pageToken: 't',
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
    return;
  }
  const [code, reason] = refusal;
  // An outage passes.
  if (code === 503) refusal = null;
  request.resume().on('end', () => {
    const body = { error: { code, message: `no: ${reason}`, errors: [{ reason, message: `no: ${reason}` }] } };
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
});

before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
after(() => {
  server.closeAllConnections();
  server.close();
});

const job = { jobId: 'j', sql: 'SELECT 1', parameters: {}, labels: {}, timeoutMs: 1000, maxBytesBilled: 1 };

function createClient(): Warehouse {
  const bigquery = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = loadConfig({ PROJECT_ID: 'local-project', BIGQUERY_EMULATOR_HOST: bigquery });
  return createWarehouse({ config, clock: createClock(), log: () => undefined });
}

/** Kind and code of the error with which a job cannot be created. */
async function refused(status: number, reason: string): Promise<string> {
  refusal = [status, reason];
  try {
    return await createClient().start(job);
  } catch (error) {
    const { name, code, message } = error as Error & { code: string };
    assert.match(message, new RegExp(reason));
    return `${name} ${code}`;
  }
}

test('a refused job is permanent only where the statement is at fault', async () => {
  for (const reason of ['invalidQuery', 'invalid', 'resourcesExceeded', 'responseTooLarge', 'badRequest'])
    assert.equal(await refused(400, reason), 'PermanentError statement_refused', reason);
  // BigQuery answers these with the status of a broken request, too.
  for (const reason of ['jobBackendError', 'jobInternalError', 'jobRateLimitExceeded', 'tableUnavailable'])
    assert.equal(await refused(400, reason), 'TransientError unavailable', reason);
  assert.equal(await refused(403, 'quotaExceeded'), 'TransientError overloaded');
  for (const [status, reason] of [
    [403, 'accessDenied'],
    [403, 'billingNotEnabled'],
    [404, 'notFound'],
  ] as const)
    // prettier-ignore
    assert.equal(await refused(status, reason), 'TransientError unavailable', reason);
  assert.equal(await refused(501, 'notImplemented'), 'AmbiguousError ambiguous');
  assert.equal(await refused(409, 'duplicate'), 'exists');
});

test('a page: its rows, an outage that passes, a result that is gone', async () => {
  const warehouse = createClient();
  const page = { rows: [{ a: '1' }], next: 't' };
  refusal = null;
  assert.deepEqual(await warehouse.page('j', null, 10), page);
  refusal = [503, 'backendError'];
  requests = 0;
  assert.deepEqual(await warehouse.page('j', null, 10), page);
  assert.equal(requests, 2);
  for (const status of [404, 410]) {
    refusal = [status, 'notFound'];
    assert.equal(await warehouse.page('j', null, 10), null);
  }
  refusal = [403, 'accessDenied'];
  await assert.rejects(warehouse.page('j', null, 10), { name: 'TransientError' });
});
