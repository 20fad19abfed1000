import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createEvents, EVENTS, openWriter, restClient } from './fixture.ts';
import { startBigQuery } from './server.ts';
import { compile } from './stand-in.ts';
import type { BigQueryServer } from './types.ts';

const CHILD = `
  import { startBigQuery } from '${new URL('./server.ts', import.meta.url).href}';
  import { compile } from '${new URL('./stand-in.ts', import.meta.url).href}';
  const server = await startBigQuery({ compile, stateDir: process.env.STATE });
  process.stdout.write(JSON.stringify({ address: server.address, grpcAddress: server.grpcAddress }));
`;

test('what was acknowledged outlives a kill', async () => {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'bigquery-'));
  const child = spawn(process.execPath, ['--input-type=module', '-e', CHILD], {
    env: { ...process.env, STATE: stateDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const remote = JSON.parse(line.toString()) as BigQueryServer;
    await createEvents(restClient(remote));
    const writer = await openWriter(remote, EVENTS);
    for (let n = 0; n < 30; n++) await writer.writer.appendRows([{ event_id: `e${n}` }]).getResult();
    child.kill('SIGKILL');
    await once(child, 'exit');
    writer.close();
    const server = await startBigQuery({ compile, stateDir });
    assert.deepEqual(await server.query('SELECT count(*) AS n FROM `local.ds.events` /* n INTEGER */'), [{ n: 30 }]);
    await server.stop();
  } finally {
    child.kill('SIGKILL');
    rmSync(stateDir, { recursive: true });
  }
});
