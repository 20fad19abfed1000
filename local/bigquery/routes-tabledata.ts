import { invalid } from './errors.ts';
import { count, type RestRequest, type Route } from './http.ts';
import { makeToken, page, readToken } from './results.ts';
import { tableRef } from './routes-tables.ts';
import type { Services } from './services.ts';
import type { InsertRow } from './streaming.ts';
import { tableName } from './types.ts';

const TABLE = '/projects/:project/datasets/:dataset/tables/:table';
/** Rows that are read at a time; the answer may hold fewer. */
const BATCH = 10_000;

export function tabledataRoutes(services: Services): Route[] {
  const { catalog, faults, streaming } = services;
  const around = (name: string, request: RestRequest, work: () => Promise<object>): Promise<object> =>
    faults.around('bigquery', name, `${request.params['dataset']}.${request.params['table']}`, work);
  return [
    {
      method: 'POST',
      path: `${TABLE}/insertAll`,
      handle: (request) =>
        around('tabledata.insertAll', request, async () => {
          const { rows, skipInvalidRows, ignoreUnknownValues, templateSuffix } = request.body;
          if (templateSuffix !== undefined) throw invalid('templateSuffix is not supported');
          const errors = await streaming.insert(
            catalog.table(tableRef(request)),
            Array.isArray(rows) ? (rows as InsertRow[]) : [],
            { skipInvalidRows: skipInvalidRows === true, ignoreUnknownValues: ignoreUnknownValues === true },
          );
          return { kind: 'bigquery#tableDataInsertAllResponse', ...(errors.length > 0 && { insertErrors: errors }) };
        }),
    },
    {
      method: 'GET',
      path: `${TABLE}/data`,
      handle: (request) => around('tabledata.list', request, () => list(services, request)),
    },
  ];
}

/** Rows in the order of their arrival. */
async function list({ catalog, engine }: Services, request: RestRequest): Promise<object> {
  const { query } = request;
  const table = catalog.table(tableRef(request));
  if (table.kind === 'view') throw invalid(`Cannot list a table of type VIEW: ${tableName(table.ref)}`);
  if (query.get('selectedFields')) throw invalid('selectedFields is not supported');
  const what = tableName(table.ref);
  const token = query.get('pageToken');
  const start = token === null ? (count(query.get('startIndex'), 'startIndex') ?? 0) : readToken(token, what);
  const limit = Math.min(count(query.get('maxResults'), 'maxResults') ?? BATCH, BATCH);
  const { rows, total } = await engine.readTable(table, start, limit);
  const shown = page(table.fields, rows, what, {
    int64Timestamps: query.get('formatOptions.useInt64Timestamp') === 'true',
  });
  const next = start + shown.rows.length;
  return {
    kind: 'bigquery#tableDataList',
    totalRows: String(total),
    rows: shown.rows,
    ...(next < total && { pageToken: makeToken(next, what) }),
  };
}
