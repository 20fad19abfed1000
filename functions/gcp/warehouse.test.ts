import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { loadConfig } from '../config.ts';
import { createClock } from './clock.ts';
import { createWarehouse } from './warehouse.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

/** What the server answers: a status and the reason that BigQuery would give. */
let refusal: readonly [status: number, reason: string];
const server = http.createServer((request, response) => {
  const [code, reason] = refusal;
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

/** Kind and code of the error with which a job cannot be created. */
async function refused(status: number, reason: string): Promise<string> {
  refusal = [status, reason];
  const bigquery = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = loadConfig({ PROJECT_ID: 'local-project', BIGQUERY_EMULATOR_HOST: bigquery });
  const warehouse = createWarehouse({ config, clock: createClock(), log: () => undefined });
  try {
    return await warehouse.start(job);
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
