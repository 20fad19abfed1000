import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BigQuery } from '@google-cloud/bigquery';
import { startBigQuery } from '../../local/bigquery/server.ts';
import type { BigQueryServer } from '../../local/bigquery/types.ts';
import { Faults, type Fault } from '../../local/shared/faults.ts';
import { loadConfig } from '../config.ts';
import { createJobProbe } from './probe-bigquery.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

const PROJECT = 'local-project';
let server: BigQueryServer;
let client: BigQuery;
let fault: Fault | undefined;

before(async () => {
  server = await startBigQuery({ project: PROJECT, faults: new Faults(() => fault) });
  client = new BigQuery({ projectId: PROJECT, apiEndpoint: `http://${server.address}` });
});
after(() => server.stop());

function look(jobId: string) {
  const config = loadConfig({ PROJECT_ID: PROJECT, BIGQUERY_EMULATOR_HOST: `http://${server.address}` });
  return createJobProbe({ config })({ type: 'bigquery_job', jobId, project: null, location: null });
}

test('a job that is done, one that failed, one that is not there', async () => {
  const [done] = await client.createQueryJob({ query: 'SELECT 1 AS one', jobId: 'good', location: 'US' });
  await done.promise();
  const found = await look('good');
  assert.equal(found.state, 'done');
  const [bad] = await client.createQueryJob({ query: "SELECT CAST('x' AS INT64) AS n", jobId: 'bad', location: 'US' });
  await bad.promise().catch(() => undefined);
  assert.equal((await look('bad')).state, 'failed');
  assert.deepEqual(await look('nowhere'), { state: 'absent' });
});

test('jobs of others that it may not look at: the watch waits, and says what to grant', async (t) => {
  t.after(() => (fault = undefined));
  fault = { kind: 'refuse', code: 7, message: 'Access Denied' };
  await assert.rejects(
    look('good'),
    /poll needs bigquery\.jobs\.get on the project local-project.*job_projects.*Access Denied/,
  );
  await assert.rejects(look('good'), { code: 'unavailable' });
});
