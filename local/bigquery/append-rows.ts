import type { DuckDBValue } from '@duckdb/node-api';
import { BigQueryError, invalid } from './errors.ts';
import { protoRow } from './proto-rows.ts';
import { planMessage, SchemaMismatch, type Descriptor, type MessagePlan } from './proto-schema.ts';
import type { Services } from './services.ts';
import { tableName, type StoredTable } from './types.ts';
import { ValueError } from './values.ts';
import type { TableRef } from './sql/types.ts';

const STREAM = /^(?:projects\/([^/]+)\/datasets\/([^/]+)\/tables\/([^/]+)(?:\/streams)?\/)?(_default)$/;
const MAX_REQUEST = 20 * 1024 * 1024;
const MAX_ROW = 10 * 1024 * 1024;
const INVALID_ARGUMENT = 3;
/** storage.v1.StorageError.StorageErrorCode. */
const SCHEMA_MISMATCH_EXTRA_FIELDS = 7;
/** An answer lists at most this many refused rows. */
const MAX_ROW_ERRORS = 1000;

export interface AppendRequest {
  readonly writeStream: string;
  readonly offset?: { readonly value: string } | null;
  readonly protoRows?: {
    readonly writerSchema?: { readonly protoDescriptor?: Descriptor } | null;
    readonly rows?: { readonly serializedRows?: readonly Buffer[] } | null;
  } | null;
  readonly arrowRows?: object | null;
  readonly missingValueInterpretations?: Readonly<Record<string, string>>;
  /** Size on the wire in bytes. */
  readonly size: number;
}

export interface AppendResponse {
  readonly appendResult?: object;
  readonly error?: { readonly code: number; readonly message: string; readonly details?: object[] };
  readonly rowErrors?: readonly { readonly index: string; readonly code: 'FIELDS_ERROR'; readonly message: string }[];
  readonly writeStream: string;
}

/** What a connection remembers between its requests: later ones leave out what has not changed. */
export interface AppendSession {
  writeStream?: string;
  descriptor?: Descriptor;
  plan?: { readonly etag: string; readonly duckdb: string; readonly message: MessagePlan };
}

/** The table of a default stream: `projects/p/datasets/d/tables/t/streams/_default`, or without `streams`. */
export function parseStream(name: string): TableRef | undefined {
  const match = STREAM.exec(name);
  return match?.[1] ? { project: match[1], dataset: match[2]!, table: match[3]! } : undefined;
}

/**
 * One AppendRows request: all of its rows or none. A refusal of its content is an answer with `error`; what ends the
 * connection (no such table, an injected fault) is thrown.
 */
export async function appendRows(
  services: Services,
  session: AppendSession,
  request: AppendRequest,
): Promise<AppendResponse> {
  // Read at once, in the order of arrival, before anything can wait.
  if (request.writeStream) session.writeStream = request.writeStream;
  const descriptor = request.protoRows?.writerSchema?.protoDescriptor;
  if (descriptor) {
    if (session.descriptor && JSON.stringify(session.descriptor) !== JSON.stringify(descriptor)) delete session.plan;
    session.descriptor = descriptor;
  }
  const current: AppendSession = { ...session };
  const ref = parseStream(current.writeStream ?? '');
  const resource = ref ? `${ref.dataset}.${ref.table}` : (current.writeStream ?? '');
  return services.faults.around('bigquery', 'AppendRows', resource, async () => {
    if (!ref)
      throw invalid(
        `Stream ${current.writeStream} is no default stream: projects/*/datasets/*/tables/*/streams/_default`,
      );
    const table = services.catalog.table(ref);
    const name = current.writeStream ?? '';
    try {
      const rows = readRows(services, current, table, request);
      if (current.plan) session.plan = current.plan;
      if ('rowErrors' in rows) {
        const message = 'Errors found while processing rows. Please refer to the row_errors field for details.';
        return { error: { code: INVALID_ARGUMENT, message }, rowErrors: rows.rowErrors, writeStream: name };
      }
      await services.appends.append(table, rows.values);
      services.meter.add('bigquery.append_requests');
      services.meter.add('bigquery.append_rows', rows.values.length);
      services.meter.add('bigquery.append_bytes', request.size);
      return { appendResult: {}, writeStream: name };
    } catch (error) {
      if (error instanceof SchemaMismatch) return { error: mismatch(error, tableName(ref)), writeStream: name };
      if (error instanceof BigQueryError && error.reason === 'invalid') {
        return { error: { code: INVALID_ARGUMENT, message: error.message }, writeStream: name };
      }
      throw error;
    }
  });
}

type ReadRows = { readonly values: DuckDBValue[][] } | { readonly rowErrors: NonNullable<AppendResponse['rowErrors']> };

function readRows(services: Services, session: AppendSession, table: StoredTable, request: AppendRequest): ReadRows {
  if (table.kind === 'view') throw invalid(`Cannot append to a view: ${tableName(table.ref)}`);
  if (request.size > MAX_REQUEST) throw invalid(`AppendRows request too large: ${request.size} limit ${MAX_REQUEST}`);
  if (request.arrowRows) throw invalid('Arrow rows are not supported');
  if (request.offset) throw invalid('The default stream takes no offset');
  if (!session.descriptor) throw invalid('The first request of a connection needs the writer schema');
  const serialized = request.protoRows?.rows?.serializedRows ?? [];
  if (serialized.length === 0) throw invalid('Rows must be specified');
  if (session.plan?.etag !== table.etag || session.plan.duckdb !== table.duckdb) {
    const message = planMessage(session.descriptor, table.fields);
    session.plan = { etag: table.etag, duckdb: table.duckdb, message };
  }
  const { message } = session.plan;
  const values: DuckDBValue[][] = [];
  const rowErrors: { index: string; code: 'FIELDS_ERROR'; message: string }[] = [];
  serialized.forEach((bytes, index) => {
    try {
      if (bytes.length > MAX_ROW) throw new ValueError('', `the row has ${bytes.length} bytes, more than ${MAX_ROW}`);
      const row = protoRow(message, bytes);
      services.streaming.checkPartition(table, row);
      values.push(row);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      const field = error.field ? `Field ${error.field}: ` : '';
      if (rowErrors.length < MAX_ROW_ERRORS) {
        rowErrors.push({ index: String(index), code: 'FIELDS_ERROR', message: field + error.message });
      }
    }
  });
  return rowErrors.length > 0 ? { rowErrors } : { values };
}

function mismatch(error: SchemaMismatch, entity: string): NonNullable<AppendResponse['error']> {
  if (!error.extra) return { code: INVALID_ARGUMENT, message: error.message };
  return {
    code: INVALID_ARGUMENT,
    message: `${error.message} Entity: ${entity}/streams/_default`,
    details: [
      {
        typeUrl: 'type.googleapis.com/google.cloud.bigquery.storage.v1.StorageError',
        value: storageError(SCHEMA_MISMATCH_EXTRA_FIELDS, entity, error.message),
      },
    ],
  };
}

/** A serialized StorageError: a number and two texts. */
function storageError(code: number, entity: string, message: string): Buffer {
  const text = (field: number, value: string): Buffer => {
    const bytes = Buffer.from(value).subarray(0, 16_383);
    const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >>> 7];
    return Buffer.concat([Buffer.from([(field << 3) | 2, ...length]), bytes]);
  };
  return Buffer.concat([Buffer.from([8, code]), text(2, entity), text(3, message)]);
}
