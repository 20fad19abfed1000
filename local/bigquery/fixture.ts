import { BigQuery } from '@google-cloud/bigquery';
import { adapt, managedwriter } from '@google-cloud/bigquery-storage';
import { credentials } from '@grpc/grpc-js';
import type { Field } from './sql/types.ts';
import type { BigQueryServer } from './types.ts';

/** What the tests of this folder share: Google's own clients on one side, the server on the other. */

process.env['METADATA_SERVER_DETECTION'] = 'none';

export const PROJECT = 'local';

export const EVENTS: Field[] = [
  { name: 'event_id', type: 'STRING', mode: 'REQUIRED' },
  { name: 'event_time', type: 'TIMESTAMP' },
  { name: 'sequence', type: 'INTEGER' },
  { name: 'payload', type: 'STRING' },
];

export function restClient(server: BigQueryServer): BigQuery {
  return new BigQuery({ projectId: PROJECT, apiEndpoint: `http://${server.address}`, autoRetry: false, maxRetries: 0 });
}

/** A dataset `ds` with a table `events`, by day of `event_time`. */
export async function createEvents(client: BigQuery, location = 'US'): Promise<void> {
  await client.createDataset('ds', { location });
  await client.dataset('ds').createTable('events', {
    schema: { fields: [...EVENTS] as never },
    timePartitioning: { type: 'DAY', field: 'event_time' },
    clustering: { fields: ['event_id'] },
  });
}

export interface TestWriter {
  readonly writer: managedwriter.JSONWriter;
  /** Errors of the connection itself. */
  readonly errors: Error[];
  close(): void;
}

export async function openWriter(
  server: BigQueryServer,
  fields: readonly Field[],
  table = 'events',
): Promise<TestWriter> {
  const [host, port] = server.grpcAddress.split(':');
  const client = new managedwriter.WriterClient({
    projectId: PROJECT,
    apiEndpoint: host!,
    port: Number(port),
    sslCreds: credentials.createInsecure(),
  });
  const connection = await client.createStreamConnection({
    streamId: managedwriter.DefaultStream,
    destinationTable: `projects/${PROJECT}/datasets/ds/tables/${table}`,
  });
  const errors: Error[] = [];
  connection.on('error', (error: Error) => errors.push(error));
  const schema = adapt.convertBigQuerySchemaToStorageTableSchema({ fields: [...fields] as never });
  const protoDescriptor = adapt.convertStorageSchemaToProto2Descriptor(schema, 'root');
  const writer = new managedwriter.JSONWriter({ connection, protoDescriptor });
  return {
    writer,
    errors,
    close() {
      writer.close();
      client.close();
    },
  };
}
