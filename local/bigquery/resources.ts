import type { Dataset, StoredTable } from './types.ts';
import { tableName } from './types.ts';

/** The stored things in the shape of the REST API. */

export function datasetResource(dataset: Dataset): Record<string, unknown> {
  const { project, id } = dataset;
  return {
    ...dataset.extra,
    kind: 'bigquery#dataset',
    id: `${project}:${id}`,
    etag: dataset.etag,
    selfLink: `/bigquery/v2/projects/${project}/datasets/${id}`,
    datasetReference: { projectId: project, datasetId: id },
    location: dataset.location,
    maxTimeTravelHours: String(dataset.maxTimeTravelHours),
    creationTime: millis(dataset.created),
    lastModifiedTime: millis(dataset.modified),
  };
}

export function tableResource(table: StoredTable, location: string): Record<string, unknown> {
  const { project, dataset, table: id } = table.ref;
  return {
    ...table.extra,
    kind: 'bigquery#table',
    id: tableName(table.ref),
    etag: table.etag,
    selfLink: `/bigquery/v2/projects/${project}/datasets/${dataset}/tables/${id}`,
    tableReference: { projectId: project, datasetId: dataset, tableId: id },
    type: table.kind === 'view' ? 'VIEW' : 'TABLE',
    location,
    schema: { fields: table.fields },
    ...(table.partitioning && { timePartitioning: table.partitioning }),
    ...(table.clustering && { clustering: { fields: table.clustering } }),
    ...(table.query !== undefined && { view: { query: table.query, useLegacySql: false } }),
    creationTime: millis(table.created),
    lastModifiedTime: millis(table.modified),
  };
}

export function millis(micros: number): string {
  return String(Math.floor(micros / 1000));
}
