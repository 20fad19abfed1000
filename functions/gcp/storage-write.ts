// Not the package's index: it loads Arrow, the reader and four megabytes of generated code, none of which is used.
import { BigQueryWriteClient } from '@google-cloud/bigquery-storage/build/src/v1/big_query_write_client.js';
import type { Config } from '../config.ts';
import type { EventRow, SummaryRow } from '../core/event.ts';
import { AmbiguousError, CodaflowError, PermanentError, toError, TransientError } from '../core/errors.ts';
import type { Appended, Table } from '../ports.ts';
import events from '../../terraform/schemas/events.json' with { type: 'json' };
import summaries from '../../terraform/schemas/summaries.json' with { type: 'json' };
import { AppendConnection, type AppendResponse } from './append-connection.ts';
import { channelOptions } from './channel.ts';
import { localEndpoint } from './local-endpoint.ts';
import { descriptor } from './proto-descriptor.ts';
import { encodeRow, type Column } from './proto-rows.ts';
import type { AdapterContext } from './runtime.ts';
import { fromStatus, withDeadline } from './status.ts';

export function createEventsTable(context: AdapterContext): Table<EventRow> {
  return createTable(context, 'events', events);
}

export function createSummariesTable(context: AdapterContext): Table<SummaryRow> {
  return createTable(context, 'summaries', summaries);
}

/**
 * Appends to the default stream of a table over one connection per instance. Rows that BigQuery names as bad are told so,
 * and the others are sent again without them.
 */
export function createTable<Row extends object>(
  { config, log, clock }: AdapterContext,
  table: string,
  columns: readonly Column[],
): Table<Row> {
  const deadlineMs = config.portDeadline / 1000;
  const what = `append to ${table}`;
  const writeStream = `projects/${config.projectId}/datasets/${config.dataset}/tables/${table}/streams/_default`;
  const opening = { writeStream, protoRows: { writerSchema: { protoDescriptor: descriptor(columns) } } };
  let client: Promise<BigQueryWriteClient> | undefined;
  let connection: AppendConnection | undefined;

  const connect = async (): Promise<AppendConnection> => {
    client ??= createClient(config);
    const ready = await client.catch((error: unknown) => {
      // Credentials may be there the next time; a client that began without them never asks again.
      client = undefined;
      throw new TransientError('unavailable', `${what}: ${toError(error).message}`, error);
    });
    if (connection?.usable === true) return connection;
    // The header routes the request to the region of the table.
    const headers = { 'x-goog-request-params': `write_stream=${writeStream}` };
    connection = new AppendConnection(ready.appendRows({ otherArgs: { headers } }));
    return connection;
  };

  const send = async (rows: readonly Buffer[], end: number): Promise<AppendResponse> => {
    const left = () => (end - clock.now()) / 1000;
    for (let attempt = 1; ; attempt++) {
      if (left() <= 0) throw new AmbiguousError(`${what}: no answer within ${deadlineMs} ms`);
      const current = await withDeadline(connect(), left(), what);
      try {
        const answer = current.append(opening, { writeStream, protoRows: { rows: { serializedRows: [...rows] } } });
        return await withDeadline(answer, left(), what, () => current.abandon());
      } catch (thrown) {
        const error = failure(thrown, what);
        // Once more over a new connection: repeated rows are harmless, and idle connections end all the time.
        if (!(error instanceof AmbiguousError) || attempt > 1) throw error;
        log({ severity: 'INFO', event: 'append.reconnect', table, message: error.message });
      }
    }
  };

  return {
    async append(rows) {
      const end = clock.now() + config.portDeadline;
      const results = new Array<Appended>(rows.length).fill({ ok: true });
      let left = rows.map((row, index) => ({ index, bytes: encodeRow(columns, row) }));
      while (left.length > 0) {
        const response = await send(
          left.map(({ bytes }) => bytes),
          end,
        );
        const refused = refusedRows(response);
        if (refused.size === 0) {
          if (response.error) throw inBand(response.error, what);
          if (!response.appendResult) throw new AmbiguousError(`${what}: the answer has neither a result nor an error`);
          break;
        }
        refused.forEach((reason, at) => {
          results[left[at]!.index] = { ok: false, reason };
        });
        left = left.filter((_, at) => !refused.has(at));
      }
      return results;
    },
  };
}

/** Reasons by the position of the row in the request. */
function refusedRows(response: AppendResponse): Map<number, string> {
  return new Map((response.rowErrors ?? []).map(({ index, message }) => [Number(index), message ?? 'no reason given']));
}

/** What BigQuery says, with the status INVALID_ARGUMENT, of a column that the table lacks: no row is at fault. */
const MORE_FIELDS = /schema has more fields|SCHEMA_MISMATCH_EXTRA_FIELD/i;

function failure(thrown: unknown, what: string): CodaflowError {
  const { message } = toError(thrown);
  if (MORE_FIELDS.test(message)) return new TransientError('schema_mismatch', `${what}: ${message}`, thrown);
  return fromStatus(thrown, what, 'row_refused');
}

function inBand(error: { code?: number | null; message?: string | null }, what: string): CodaflowError {
  const known = failure(Object.assign(new Error(error.message ?? ''), { code: error.code }), what);
  // An answer that is an error says that nothing was stored.
  if (known instanceof PermanentError || known instanceof TransientError) return known;
  return new TransientError('unavailable', known.message, known);
}

async function createClient(config: Config): Promise<BigQueryWriteClient> {
  const options = { projectId: config.projectId, ...channelOptions(config) };
  const host = config.bigqueryStorageHost;
  const client = new BigQueryWriteClient(host === null ? options : { ...options, ...localEndpoint(host) });
  await client.initialize();
  return client;
}
