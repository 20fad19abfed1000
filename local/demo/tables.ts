import type { BigQuery } from '@google-cloud/bigquery';
import { DATASET, tables, views } from '../resources.ts';
import { isObject, nameOf, readObjects, type Line } from './input.ts';
import { InputError, type Options } from './options.ts';

/** A table of the user's own, for joins that read it. */
export interface OwnTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

const COLUMN = /^[A-Za-z_]\w{0,299}$/;

/**
 * The tables of `--table`.
 *
 * @throws InputError that names the file and the line
 */
export async function readTables({ tables: wanted }: Pick<Options, 'tables'>): Promise<readonly OwnTable[]> {
  const taken = new Set([...tables(), ...views()].map(({ name }) => name));
  const found: OwnTable[] = [];
  for (const [name, file] of Object.entries(wanted)) {
    if (taken.has(name)) throw new InputError(`--table ${name}=${file}: ${name} is a table of Codaflow itself`);
    found.push(toTable(name, file, await readObjects(file, 'rows')));
  }
  return found;
}

/** A column for each member, of the narrowest type that holds all of its values; objects and arrays become JSON text. */
export function toTable(name: string, file: string, lines: readonly Line[]): OwnTable {
  const rows = lines.map(({ text, number }) => {
    if (!isObject(text)) throw new InputError(`${nameOf(file)}, line ${number}: no JSON object; a row is one`);
    const row = JSON.parse(text) as Record<string, unknown>;
    const wrong = Object.keys(row).find((column) => !COLUMN.test(column));
    if (wrong !== undefined)
      throw new InputError(`${nameOf(file)}, line ${number}: ${JSON.stringify(wrong)} cannot be the name of a column`);
    return row;
  });
  const names = [...new Set(rows.flatMap(Object.keys))];
  const columns = names.map((column) => ({
    name: column,
    type: typeOf(rows.map((row) => row[column]).filter((value) => value !== null && value !== undefined)),
  }));
  const value = (row: Record<string, unknown>, { name: column, type }: OwnTable['columns'][number]): unknown => {
    const given = row[column] ?? null;
    return type === 'STRING' && given !== null && typeof given !== 'string' ? JSON.stringify(given) : given;
  };
  return {
    name,
    columns,
    rows: rows.map((row) => Object.fromEntries(columns.map((column) => [column.name, value(row, column)]))),
  };
}

function typeOf(values: readonly unknown[]): string {
  if (values.length === 0) return 'STRING';
  if (values.every((value) => typeof value === 'boolean')) return 'BOOL';
  if (values.every((value) => Number.isSafeInteger(value))) return 'INT64';
  return values.every((value) => typeof value === 'number') ? 'FLOAT64' : 'STRING';
}

/** Puts them into the dataset, in the place of those of an earlier run. */
export async function loadTables(bigquery: BigQuery, own: readonly OwnTable[]): Promise<void> {
  const dataset = bigquery.dataset(DATASET);
  for (const { name, columns, rows } of own) {
    const table = dataset.table(name);
    await table.delete({ ignoreNotFound: true });
    await dataset.createTable(name, { schema: { fields: [...columns] } });
    for (let at = 0; at < rows.length; at += 500) await table.insert(rows.slice(at, at + 500));
  }
}
