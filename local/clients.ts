import { BigQuery } from '@google-cloud/bigquery';
import { Firestore } from '@google-cloud/firestore';
import { PubSub } from '@google-cloud/pubsub';
import { DATABASE, PROJECT } from './resources.ts';

/** Where the servers of a local cloud listen: the standard variables, so that any client finds them. */
export interface Addresses {
  readonly PUBSUB_EMULATOR_HOST: string;
  readonly FIRESTORE_EMULATOR_HOST: string;
  readonly BIGQUERY_EMULATOR_HOST: string;
  readonly BIGQUERY_STORAGE_EMULATOR_HOST: string;
  /** Google has no such variable; only where there is Cloud Tasks. */
  readonly CLOUD_TASKS_EMULATOR_HOST?: string;
}

export interface Clients {
  readonly pubsub: PubSub;
  readonly firestore: Firestore;
  readonly bigquery: BigQuery;
  close(): Promise<void>;
}

/** The real Google clients, pointed at a local cloud. They read the process's environment, so one cloud a process. */
export function connect(addresses: Addresses): Clients {
  Object.assign(process.env, addresses, { METADATA_SERVER_DETECTION: 'none' });
  const pubsub = new PubSub({ projectId: PROJECT });
  const firestore = new Firestore({ projectId: PROJECT, databaseId: DATABASE });
  const bigquery = new BigQuery({ projectId: PROJECT });
  return {
    pubsub,
    firestore,
    bigquery,
    async close() {
      await Promise.all([pubsub.close(), firestore.terminate()]);
    },
  };
}
