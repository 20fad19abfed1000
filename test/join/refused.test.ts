import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PermanentError } from '../../functions/core/errors.ts';
import { OPEN, type Gate, type PortCall } from '../fakes/gate.ts';
import { JoinCloud } from './cloud.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

let cloud: JoinCloud;
after(() => cloud.stop());

const startsMerge = ({ method, resource }: PortCall) => method === 'start' && resource.includes('_merge_0_');

async function rowsOfLedger(): Promise<number> {
  const [rows] = (await cloud.client.query('SELECT COUNT(*) AS n FROM codaflow.joined')) as [{ n: number }[]];
  return rows[0]!.n;
}

test('the id of a refused MERGE is taken up by a job that fails: a late creation gets 409 and writes nothing', async () => {
  cloud = await JoinCloud.start();
  const join = cloud.join('enrich', 'SELECT unique_key, event_id, TRUE AS enriched FROM new_events');
  await cloud.tick(join);
  await cloud.insert({ event_id: 'e-1' });
  cloud.advance(120);

  // One instance stops as it is about to create the job; meanwhile another one's same job is refused.
  let send!: () => void;
  const sent = new Promise<void>((resolve) => (send = resolve));
  let late = '';
  let reached!: () => void;
  const stopped = new Promise<void>((resolve) => (reached = resolve));
  const stalled: Gate = {
    ...OPEN,
    before: async (call) => {
      if (!startsMerge(call) || late !== '') return;
      late = call.resource;
      reached();
      await sent;
    },
  };
  const first = cloud.tick(join, {}, stalled).catch((error: unknown) => (error as { code: string }).code);
  await stopped;
  cloud.advance(180);
  let refusals = 0;
  const refusing: Gate = {
    ...OPEN,
    before: async (call) => {
      if (startsMerge(call) && refusals++ === 0) throw new PermanentError('statement_refused', 'no such column, yet');
    },
  };
  await assert.rejects(cloud.tick(join, {}, refusing), /no such column, yet/);
  const [{ status }] = (await cloud.client.job(late, { location: 'US' }).getMetadata()) as unknown as [
    { status: { state: string; errorResult: { message: string } } },
  ];
  assert.equal(status.state, 'DONE');
  assert.match(status.errorResult.message, /this attempt was refused/);

  await assert.rejects(
    cloud.client.createQueryJob({ query: 'DELETE FROM codaflow.joined WHERE TRUE', jobId: late, location: 'US' }),
    (error: { code: number }) => error.code === 409,
  );
  send();
  assert.equal(await first, 'lease_lost');
  assert.equal(await rowsOfLedger(), 0);

  for (let i = 0; i < 2; i++) {
    cloud.advance(120);
    await cloud.tick(join);
  }
  assert.deepEqual(
    cloud.results().map((row) => row['event_id']),
    ['e-1'],
  );
  assert.equal(await rowsOfLedger(), 1);
});
