import { invalid } from './errors.ts';
import type { RestRequest, Route } from './http.ts';
import { tableResource } from './resources.ts';
import { checkEtag, mergeKept, slice } from './routes-datasets.ts';
import { parseClustering, parseFields, parsePartitioning } from './schema.ts';
import type { Services } from './services.ts';
import type { Field, TableRef } from './sql/types.ts';
import { tableName, type StoredTable } from './types.ts';

const TABLES = '/projects/:project/datasets/:dataset/tables';
const KEPT = ['friendlyName', 'description', 'labels', 'requirePartitionFilter', 'expirationTime'];
/** What would change how a table behaves and is not there. */
const UNSUPPORTED = [
  'rangePartitioning',
  'externalDataConfiguration',
  'materializedView',
  'tableConstraints',
  'cloneDefinition',
  'snapshotDefinition',
];

export function tableRef({ params }: RestRequest): TableRef {
  return { project: params['project']!, dataset: params['dataset']!, table: params['table'] ?? '' };
}

export function tableRoutes(services: Services): Route[] {
  const { catalog, faults } = services;
  const route = (
    method: Route['method'],
    path: string,
    name: string,
    work: (request: RestRequest) => object | undefined | Promise<object | undefined>,
  ): Route => ({
    method,
    path,
    handle: (request) => {
      const resource = `${request.params['dataset']}.${request.params['table'] ?? tableId(request.body)}`;
      return faults.around('bigquery', name, resource, () => work(request));
    },
  });
  const resource = (table: StoredTable): object =>
    tableResource(table, catalog.dataset(table.ref.project, table.ref.dataset).location);
  const change = async (request: RestRequest): Promise<object> =>
    resource(
      await catalog.updateTable(tableRef(request), (table) => {
        checkEtag(request, table.etag);
        return changed(services, table, request.body);
      }),
    );
  return [
    route('POST', TABLES, 'tables.insert', async (request) => {
      const ref = { ...tableRef(request), table: tableId(request.body) };
      if (!/^[\p{L}\p{M}\p{N}\p{Pc}\p{Pd} ]{1,1024}$/u.test(ref.table))
        throw invalid(`Invalid table ID "${ref.table}"`);
      catalog.dataset(ref.project, ref.dataset);
      return resource(await catalog.createTable(newTable(services, ref, request.body)));
    }),
    route('GET', TABLES, 'tables.list', ({ params, query }) => {
      const tables = catalog.tables(params['project']!, params['dataset']!);
      const page = slice(tables, `tables of ${params['project']}:${params['dataset']}`, query);
      return {
        kind: 'bigquery#tableList',
        tables: page.items.map(resource),
        totalItems: tables.length,
        ...(page.next !== undefined && { nextPageToken: page.next }),
      };
    }),
    route('GET', `${TABLES}/:table`, 'tables.get', (request) => resource(catalog.table(tableRef(request)))),
    route('PATCH', `${TABLES}/:table`, 'tables.patch', change),
    route('PUT', `${TABLES}/:table`, 'tables.update', change),
    route('DELETE', `${TABLES}/:table`, 'tables.delete', async (request) => {
      await catalog.deleteTable(tableRef(request));
      return undefined;
    }),
  ];
}

function tableId(body: Record<string, unknown>): string {
  return (body['tableReference'] as { tableId?: string } | undefined)?.tableId ?? '';
}

type NewTable = Omit<StoredTable, 'duckdb' | 'created' | 'modified' | 'etag'>;

function newTable(services: Services, ref: TableRef, body: Record<string, unknown>): NewTable {
  const unsupported = UNSUPPORTED.find((name) => body[name] !== undefined);
  if (unsupported) throw invalid(`${unsupported} is not supported`);
  const extra = mergeKept({}, body, KEPT);
  if (body['view']) return { ref, kind: 'view', ...view(services, ref, body['view']), extra };
  const schema = body['schema'] as { fields?: unknown } | undefined;
  const fields = schema?.fields === undefined ? [] : parseFields(schema.fields);
  return {
    ref,
    kind: 'table',
    fields,
    ...(body['timePartitioning'] ? { partitioning: parsePartitioning(body['timePartitioning'], fields) } : {}),
    ...(body['clustering'] ? { clustering: parseClustering(body['clustering'], fields) } : {}),
    extra,
  };
}

/** A view's query is compiled when it is set; its columns are what the compiler says. */
function view(services: Services, ref: TableRef, source: unknown): { query: string; fields: readonly Field[] } {
  const { query, useLegacySql } = source as { query?: string; useLegacySql?: boolean };
  if (!query) throw invalid('A view needs a query');
  if (useLegacySql) throw invalid('Legacy SQL is not supported');
  const statement = { sql: query, project: ref.project, parameters: [] };
  const { compiled } = services.engine.check(statement);
  if (compiled.kind !== 'select') throw invalid('The query of a view must be a SELECT');
  return { query, fields: compiled.fields };
}

function changed(services: Services, table: StoredTable, body: Record<string, unknown>): StoredTable {
  const next: StoredTable = { ...table, extra: mergeKept(table.extra, body, KEPT) };
  if (table.kind === 'view') return body['view'] ? { ...next, ...view(services, table.ref, body['view']) } : next;
  const fields = body['schema'] ? parseFields((body['schema'] as { fields?: unknown }).fields) : table.fields;
  if (fields.length < table.fields.length)
    throw invalid(`Provided Schema does not match Table ${tableName(table.ref)}. Fields are missing`);
  if (fields.slice(table.fields.length).some((field) => field.mode === 'REQUIRED')) {
    throw invalid('Cannot add required fields to an existing schema');
  }
  if (
    table.fields.some((field, index) => field.mode !== 'REQUIRED' && fields[index]!.mode !== (field.mode ?? 'NULLABLE'))
  ) {
    throw invalid(`Provided Schema does not match Table ${tableName(table.ref)}. A field has changed mode`);
  }
  const partitioning = body['timePartitioning']
    ? parsePartitioning(body['timePartitioning'], fields)
    : table.partitioning;
  if (partitioning?.field !== table.partitioning?.field || partitioning?.type !== table.partitioning?.type) {
    throw invalid('Cannot change the partitioning of a table');
  }
  const clustering = body['clustering'] ? parseClustering(body['clustering'], fields) : table.clustering;
  return { ...next, fields, ...(partitioning && { partitioning }), ...(clustering && { clustering }) };
}
