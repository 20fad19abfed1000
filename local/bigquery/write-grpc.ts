import * as grpc from '@grpc/grpc-js';
import { StatusError } from '../shared/faults.ts';
import { loadProtos } from '../shared/grpc.ts';
import { appendRows, parseStream, type AppendRequest, type AppendResponse } from './append-rows.ts';
import { BigQueryError, notFound } from './errors.ts';
import type { Services } from './services.ts';
import type { Field, FieldType } from './sql/types.ts';

const PACKAGE = '@google-cloud/bigquery-storage';

/** Types of the Storage API's TableFieldSchema. */
const STORAGE_TYPES: Record<FieldType, string> = {
  STRING: 'STRING',
  BYTES: 'BYTES',
  INTEGER: 'INT64',
  FLOAT: 'DOUBLE',
  NUMERIC: 'NUMERIC',
  BOOLEAN: 'BOOL',
  TIMESTAMP: 'TIMESTAMP',
  DATE: 'DATE',
  TIME: 'TIME',
  DATETIME: 'DATETIME',
  JSON: 'JSON',
  RECORD: 'STRUCT',
};

/** The service `BigQueryWrite`: appends to default streams. */
export function writeServer(services: Services): grpc.Server {
  const server = new grpc.Server({
    'grpc.max_receive_message_length': 64 * 1024 * 1024,
    'grpc.max_send_message_length': -1,
  });
  const { BigQueryWrite } = storage();
  // The size on the wire counts, so it is taken before the message is read.
  const read = BigQueryWrite.service['AppendRows']!.requestDeserialize;
  const definition: grpc.ServiceDefinition = {
    ...BigQueryWrite.service,
    AppendRows: {
      ...BigQueryWrite.service['AppendRows']!,
      requestDeserialize: (bytes: Buffer) => ({ ...(read(bytes) as AppendRequest), size: bytes.length }),
    },
  };
  const refuse = (method: string) => (_call: unknown, callback: grpc.sendUnaryData<never>) =>
    callback({ code: grpc.status.UNIMPLEMENTED, details: `${method}: only the default stream is supported` });
  server.addService(definition, {
    AppendRows: (call: grpc.ServerDuplexStream<AppendRequest, AppendResponse>) => appendStream(services, call),
    GetWriteStream: (
      call: grpc.ServerUnaryCall<{ name: string; view: string }, object>,
      callback: grpc.sendUnaryData<object>,
    ) => {
      services.faults
        .around('bigquery', 'GetWriteStream', call.request.name, () => writeStream(services, call.request))
        .then((stream) => callback(null, stream))
        .catch((error: unknown) => callback(toStatus(error)));
    },
    CreateWriteStream: refuse('CreateWriteStream'),
    FinalizeWriteStream: refuse('FinalizeWriteStream'),
    BatchCommitWriteStreams: refuse('BatchCommitWriteStreams'),
    FlushRows: refuse('FlushRows'),
  });
  return server;
}

function storage(): { BigQueryWrite: grpc.ServiceClientConstructor } {
  const protos = loadProtos(PACKAGE, 'build/protos/protos.json') as unknown as {
    google: { cloud: { bigquery: { storage: { v1: { BigQueryWrite: grpc.ServiceClientConstructor } } } } };
  };
  return protos.google.cloud.bigquery.storage.v1;
}

/** Requests of one connection start in their order and are answered in it; many may be on their way at once. */
function appendStream(services: Services, call: grpc.ServerDuplexStream<AppendRequest, AppendResponse>): void {
  const session = {};
  let answers: Promise<unknown> = Promise.resolve();
  let broken = false;
  call.on('data', (request: AppendRequest) => {
    const result = appendRows(services, session, request);
    result.catch(() => undefined);
    answers = answers.then(async () => {
      if (broken) return;
      try {
        const response = await result;
        if (!broken) call.write(response);
      } catch (error) {
        // As with the real service, the connection ends; whatever is not answered yet is in doubt.
        broken = true;
        call.emit('error', toStatus(error));
      }
    });
  });
  call.on('end', () => {
    answers
      .then(() => {
        if (!broken) call.end();
      })
      .catch(() => undefined);
  });
  call.on('error', () => {
    broken = true;
  });
  call.on('cancelled', () => {
    broken = true;
  });
}

const CODES: Record<string, grpc.status> = {
  notFound: grpc.status.NOT_FOUND,
  invalid: grpc.status.INVALID_ARGUMENT,
  notImplemented: grpc.status.UNIMPLEMENTED,
};

function toStatus(error: unknown): Partial<grpc.StatusObject> & { code: grpc.status; details: string } {
  if (error instanceof StatusError) return { code: error.code, details: error.details };
  if (error instanceof BigQueryError)
    return { code: CODES[error.reason] ?? grpc.status.INTERNAL, details: error.message };
  return { code: grpc.status.INTERNAL, details: error instanceof Error ? error.message : String(error) };
}

function writeStream({ catalog, location }: Services, request: { name: string; view: string }): object {
  const ref = parseStream(request.name);
  if (!ref) throw notFound('Table', `of stream ${request.name}`);
  const table = catalog.table(ref);
  const full = request.view === 'FULL';
  return {
    name: request.name,
    type: 'COMMITTED',
    writeMode: 'INSERT',
    location: catalog.findDataset(ref.project, ref.dataset)?.location ?? location,
    ...(full && { tableSchema: { fields: table.fields.map(storageField) } }),
  };
}

function storageField(field: Field): object {
  return {
    name: field.name,
    type: STORAGE_TYPES[field.type],
    mode: field.mode ?? 'NULLABLE',
    description: field.description ?? '',
    fields: (field.fields ?? []).map(storageField),
  };
}
