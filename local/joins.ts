import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { BigQuery } from '@google-cloud/bigquery';
import { loadConfig } from '../functions/config.ts';
import type { JoinSettings } from '../functions/core/join/settings.ts';
import { loadJoins } from '../functions/gcp/joins.ts';
import { tablesOf } from '../functions/join/tables.ts';
import { DATASET, PROJECT } from './resources.ts';

/** What the cloud has for each join besides its schedule: the view of what it left out, its topic, and a subscriber. */

const TEMPLATE = path.resolve(import.meta.dirname, '../terraform/sql/join/left_out.sql');
const SUFFIX = '_left_out';
const PLACE = { projectId: PROJECT, dataset: DATASET };

/** The folder that the functions find `joins/` in, as they find it in the deployed source. */
export const ROOT = path.resolve(import.meta.dirname, '..');

/** The joins of `joins/` in a folder, as the function with these variables runs them. */
export function joinsOf(root: string, env: Readonly<Record<string, string>> = {}): readonly JoinSettings[] {
  const config = loadConfig({ PROJECT_ID: PROJECT, DATASET, ...env });
  return [...loadJoins(config, path.join(root, 'joins')).values()];
}

/** Topics that joins publish to, each once. */
export function topicsOf(joins: readonly JoinSettings[]): readonly string[] {
  return [...new Set(joins.map(({ topic }) => topic))];
}

/** Who receives what a topic gets on this machine. */
export const subscriptionOf = (topic: string): string => `${topic}-local`;

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

/**
 * Creates the views of these joins as they are now, and removes those of joins that are gone. A join whose source is not
 * there yet has none.
 */
export async function createJoinViews(bigquery: BigQuery, joins: readonly JoinSettings[]): Promise<void> {
  const dataset = bigquery.dataset(DATASET);
  const [tables] = await dataset.getTables();
  for (const table of tables) {
    const { type } = table.metadata as { type?: string };
    if (type === 'VIEW' && table.id?.endsWith(SUFFIX) === true) await table.delete();
  }
  for (const { name, query } of joins.map(leftOut)) {
    await dataset.createTable(name, { view: { query, useLegacySql: false } }).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== 404) throw error;
    });
  }
}
