import * as grpc from '@grpc/grpc-js';
import { Faults } from '../shared/faults.ts';
import { listen, stop } from '../shared/grpc.ts';
import { Meter } from '../shared/meter.ts';
import type { LocalServer, ServerOptions } from '../shared/server.ts';
import type { Now } from './clock.ts';
import { Databases } from './databases.ts';
import { loadService } from './definition.ts';
import { handlers } from './handlers.ts';
import { Rpc } from './rpc.ts';
import { TtlPolicies } from './ttl.ts';
import type { Document } from './wire.ts';

export interface FirestoreOptions extends ServerOptions {
  /** The clock, in epoch microseconds; the machine's by default. */
  readonly now?: Now;
  /** Time-to-live policies of all databases: collection group to the name of a timestamp field. */
  readonly ttl?: Readonly<Record<string, string>>;
}

export interface FirestoreServer extends LocalServer {
  /** For the environment variable FIRESTORE_EMULATOR_HOST. */
  readonly address: string;
  /** Deletes what the time-to-live policies let go at `now` (epoch microseconds); returns how many documents. */
  sweepExpired(now?: number): number;
}

/** Larger than any request that Firestore accepts, so that the limits are answered by their own errors. */
const MAX_MESSAGE = 64 * 1024 * 1024;

/** Starts a Firestore server (google.firestore.v1 over plaintext gRPC). */
export async function startFirestore(options: FirestoreOptions = {}): Promise<FirestoreServer> {
  const meter = options.meter ?? new Meter();
  const { service, sizeOf } = loadService();
  const codec = {
    encode: (document: Document) => service['GetDocument']!.responseSerialize(document),
    decode: (bytes: Buffer) => service['GetDocument']!.responseDeserialize(bytes) as Document,
  };
  const databases = new Databases(options.now ?? (() => Date.now() * 1000), options.stateDir, codec);
  const ttl = new TtlPolicies(options.ttl);
  const server = new grpc.Server({
    'grpc.max_receive_message_length': MAX_MESSAGE,
    'grpc.max_send_message_length': -1,
  });
  server.addService(service, handlers(new Rpc(options.faults ?? new Faults()), databases, meter, sizeOf));
  const port = await listen(server, options.port);
  return {
    address: `127.0.0.1:${port}`,
    sweepExpired(now = databases.clock.wall()) {
      let deleted = 0;
      for (const { database } of databases.all()) deleted += ttl.sweep(database, now);
      meter.add('firestore.deletes', deleted);
      return deleted;
    },
    async stop() {
      stop(server);
      databases.close();
    },
  };
}
