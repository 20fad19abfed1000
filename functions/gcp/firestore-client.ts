// The calls of the service as Google generates them. The client above them takes twice the CPU for a document.
import { FirestoreClient } from '@google-cloud/firestore-api/client_v1';
import type { Config } from '../config.ts';
import { channelOptions } from './channel.ts';
import { localEndpoint } from './local-endpoint.ts';

export type { FirestoreClient };

/**
 * The client sends a commit again after UNAVAILABLE, and is then told that the transaction is no longer valid: nothing
 * about whether the first one counted. So a commit is sent once, and what its answer leaves open is seen as open.
 */
const COMMIT_ONCE = {
  interfaces: {
    'google.firestore.v1.Firestore': {
      retry_codes: { none: [] },
      methods: { Commit: { retry_codes_name: 'none', retry_params_name: 'default' } },
    },
  },
};

/** Credentials are asked for before the first call: when they fail in a call, the client lets its promise go unhandled. */
export async function connect(config: Config): Promise<FirestoreClient> {
  const options = { projectId: config.projectId, clientConfig: COMMIT_ONCE, ...channelOptions(config) };
  const host = config.firestoreHost;
  const client = new FirestoreClient(host === null ? options : { ...options, ...localEndpoint(host) });
  await client.initialize();
  return client;
}

/** Options of a call. The header routes it to the database, an emulator lets its owner pass by all rules. */
export function callOptions(config: Config, database: string) {
  const emulator: Record<string, string> = config.firestoreHost === null ? {} : { authorization: 'Bearer owner' };
  // A call that nobody waits for any more is given up; the client's own timeout is five minutes.
  const timeout = config.portDeadline / 1000;
  // The client writes into what it is given.
  return () => ({ timeout, otherArgs: { headers: { 'google-cloud-resource-prefix': database, ...emulator } } });
}

/** Hands over what a stream of answers brings. Rejects with the error that ends it. */
export function each<Response>(stream: NodeJS.ReadableStream, take: (response: Response) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stream.on('data', (response: Response) => {
    try {
      take(response);
    } catch (error) {
      reject(error);
    }
  });
  stream.on('end', resolve);
  stream.on('error', reject);
  return promise;
}
