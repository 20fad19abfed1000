import type { TestContext } from 'node:test';
import { BigQuery } from '@google-cloud/bigquery';
import { loadConfig } from '../../functions/config.ts';
import { createEventsTable } from '../../functions/gcp/storage-write.ts';
import type { Clock } from '../../functions/ports.ts';
import { startBigQuery } from '../../local/bigquery/server.ts';
import { createTables } from '../../local/provision.ts';
import { DATASET, PROJECT } from '../../local/resources.ts';
import { Faults, type Fault } from '../../local/shared/faults.ts';
import { START } from '../fakes/clock.ts';
import { Handlers } from '../keys/handlers.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

/** The functions over a local BigQuery through the real client; the rest is in memory. */
export interface Storage {
  readonly cloud: Handlers;
  readonly client: BigQuery;
  /** What happens to every append while it is set. */
  fault: Fault | undefined;
  /** Appends that arrived. */
  readonly appends: () => number;
  /** Rows of a table or view of the dataset, by event id. */
  readonly rows: (name: 'events' | 'events_unique') => Promise<Record<string, unknown>[]>;
}

/**
 * Starts everything and ends it with the test.
 *
 * @param behind how far BigQuery's clock is behind that of the functions, in microseconds
 */
export async function startStorage(t: TestContext, behind = 0): Promise<Storage> {
  let appends = 0;
  const faults = new Faults(({ method }) => {
    if (method !== 'AppendRows') return undefined;
    appends++;
    return storage.fault;
  });
  const now = () => storage.cloud.clock.now();
  const server = await startBigQuery({ project: PROJECT, faults, clock: () => now() - behind });
  const address = `http://${server.address}`;
  const client = new BigQuery({ projectId: PROJECT, apiEndpoint: address });
  const config = loadConfig({
    PROJECT_ID: PROJECT,
    DATASET,
    BIGQUERY_EMULATOR_HOST: address,
    BIGQUERY_STORAGE_EMULATOR_HOST: server.grpcAddress,
  });
  // No deadline passes: time stands still, and every call is answered.
  const clock: Clock = { now, sleep: () => new Promise(() => undefined) };
  const table = createEventsTable({ config, clock, log: () => undefined });
  const storage: Storage = {
    cloud: new Handlers(START, {}, table),
    client,
    fault: undefined,
    appends: () => appends,
    rows: (name) => server.query(`SELECT * FROM \`${PROJECT}.${DATASET}.${name}\` ORDER BY event_id, message_id`),
  };
  await createTables(client);
  t.after(() => server.stop());
  return storage;
}
