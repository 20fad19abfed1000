import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { BigQuery } from '@google-cloud/bigquery';
import type { JoinSettings } from '../functions/core/join/settings.ts';
import { tablesOf } from '../functions/join/tables.ts';
import { DATASET, PROJECT } from './resources.ts';

const TEMPLATE = path.resolve(import.meta.dirname, '../terraform/sql/join/left_out.sql');
const SUFFIX = '_left_out';
const PLACE = { projectId: PROJECT, dataset: DATASET };

/** The view of what a join left out, from the template that Terraform deploys too. */
export function leftOut(join: JoinSettings): { readonly name: string; readonly query: string } {
  const { key, id, time, arrival } = join.source;
  const values: Readonly<Record<string, string>> = {
    dataset: `${PROJECT}.${DATASET}`,
    source: tablesOf(join, PLACE).source,
    join: join.name,
    ...{ key, id, time, arrival: arrival ?? time },
  };
  const template = readFileSync(TEMPLATE, 'utf8');
  return { name: join.name + SUFFIX, query: template.replace(/\$\{(\w+)\}/g, (_, name: string) => values[name]!) };
}

/** Creates the views of these joins as they are now, and removes those of joins that are gone. */
export async function createJoinViews(bigquery: BigQuery, joins: Iterable<JoinSettings>): Promise<void> {
  const dataset = bigquery.dataset(DATASET);
  const [tables] = await dataset.getTables();
  for (const table of tables) if (table.id?.endsWith(SUFFIX) === true) await table.delete();
  for (const { name, query } of [...joins].map(leftOut))
    await dataset.createTable(name, { view: { query, useLegacySql: false } });
}
