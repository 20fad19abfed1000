import { invalid } from './errors.ts';
import type { Field, FieldType } from './sql/types.ts';
import type { Partitioning } from './types.ts';

/** The REST API knows two names for some types. */
const TYPES: Record<string, FieldType> = {
  STRING: 'STRING',
  BYTES: 'BYTES',
  INTEGER: 'INTEGER',
  INT64: 'INTEGER',
  FLOAT: 'FLOAT',
  FLOAT64: 'FLOAT',
  NUMERIC: 'NUMERIC',
  DECIMAL: 'NUMERIC',
  BOOLEAN: 'BOOLEAN',
  BOOL: 'BOOLEAN',
  TIMESTAMP: 'TIMESTAMP',
  DATE: 'DATE',
  TIME: 'TIME',
  DATETIME: 'DATETIME',
  JSON: 'JSON',
  RECORD: 'RECORD',
  STRUCT: 'RECORD',
};
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,299}$/;
const RESERVED = /^(_commit_time$|_row$|_change_|_table_|_file_|_partition|_row_timestamp|__root__|_colidentifier)/i;

/**
 * Reads a REST TableSchema's `fields`.
 * @throws BigQueryError invalid
 */
export function parseFields(fields: unknown, prefix = ''): Field[] {
  if (!Array.isArray(fields)) throw invalid('Schema fields are missing');
  const seen = new Set<string>();
  return fields.map((source: unknown) => {
    const field = source as { name?: string; type?: string; mode?: string; fields?: unknown; description?: string };
    const name = field.name ?? '';
    if (!NAME.test(name) || RESERVED.test(name)) throw invalid(`Invalid field name "${prefix}${name}"`);
    if (seen.has(name.toLowerCase())) throw invalid(`Duplicate field name: ${prefix}${name}`);
    seen.add(name.toLowerCase());
    const type = TYPES[(field.type ?? '').toUpperCase()];
    if (!type) throw invalid(`Field ${prefix}${name}: type ${String(field.type)} is not supported`);
    if ('defaultValueExpression' in field) throw invalid(`Field ${prefix}${name}: default values are not supported`);
    const mode = (field.mode ?? 'NULLABLE').toUpperCase();
    if (mode !== 'NULLABLE' && mode !== 'REQUIRED' && mode !== 'REPEATED') {
      throw invalid(`Field ${prefix}${name}: invalid mode ${mode}`);
    }
    return {
      name,
      type,
      mode,
      ...(type === 'RECORD' && { fields: parseFields(field.fields, `${prefix}${name}.`) }),
      ...(field.description !== undefined && { description: field.description }),
    };
  });
}

/** Reads a REST TimePartitioning: by a column only. */
export function parsePartitioning(source: unknown, fields: readonly Field[]): Partitioning {
  const partitioning = source as { type?: string; field?: string; expirationMs?: string };
  const type = partitioning.type ?? 'DAY';
  if (type !== 'HOUR' && type !== 'DAY' && type !== 'MONTH' && type !== 'YEAR') {
    throw invalid(`Invalid time partitioning type ${type}`);
  }
  if (partitioning.field === undefined) throw invalid('Partitioning by ingestion time is not supported; name a field');
  const name = partitioning.field.toLowerCase();
  const field = fields.find((one) => one.name.toLowerCase() === name);
  if (!field || !['TIMESTAMP', 'DATE', 'DATETIME'].includes(field.type) || field.mode === 'REPEATED') {
    throw invalid(
      `The field specified for time partitioning is no TIMESTAMP, DATE or DATETIME column: ${partitioning.field}`,
    );
  }
  if (field.type === 'DATE' && type === 'HOUR') throw invalid('A DATE column cannot be partitioned by HOUR');
  const { expirationMs } = partitioning;
  return { field: field.name, type, ...(expirationMs !== undefined && { expirationMs: String(expirationMs) }) };
}

/** Reads a REST Clustering: up to four columns. */
export function parseClustering(source: unknown, fields: readonly Field[]): string[] {
  const names = (source as { fields?: string[] }).fields ?? [];
  if (names.length > 4) throw invalid('Clustering takes at most 4 fields');
  for (const name of names) {
    const field = fields.find((one) => one.name.toLowerCase() === name.toLowerCase());
    if (!field) throw invalid(`The field specified for clustering cannot be found in the schema: ${name}`);
    if (field.mode === 'REPEATED' || ['RECORD', 'JSON', 'BYTES', 'FLOAT', 'TIME'].includes(field.type)) {
      throw invalid(`The field ${name} of type ${field.type} cannot be used for clustering`);
    }
  }
  return names;
}
