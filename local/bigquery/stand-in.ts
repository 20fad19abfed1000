import type { CompileContext, Compiled, Field, FieldType, Relation, Scan } from './sql/types.ts';
import { SqlError } from './sql/types.ts';

/** A tiny compiler for the tests: DuckDB's own SQL with BigQuery's table names, output columns in a trailing comment. */
export function compile(sql: string, context: CompileContext): Compiled {
  const scans: Scan[] = [];
  const find = (name: string): Extract<Relation, { kind: 'table' }> => {
    const [project, dataset, table] = name.split('.') as [string, string, string];
    const relation = context.resolve({ project, dataset, table });
    if (!relation) throw new SqlError(`Not found: Table ${name}`, 'notFound');
    if (relation.kind === 'view') throw new SqlError('views are not in the stand-in');
    return relation;
  };
  const value = (name: string): string => {
    const parameter = context.parameters.find((one) => one.name === name);
    if (!parameter) throw new SqlError(`Query parameter '${name}' not found`);
    if (Array.isArray(parameter.value)) return `[${parameter.value.map((one) => `'${one}'`).join(', ')}]`;
    const text = `'${String(parameter.value)}'`;
    return parameter.type === 'TIMESTAMP'
      ? `CAST(${text} AS TIMESTAMPTZ)`
      : `CAST(${text} AS ${parameter.type === 'INT64' ? 'BIGINT' : 'VARCHAR'})`;
  };
  const text = sql
    .replace(/APPENDS\(TABLE `([^`]+)`, (\d+), (\w+)\)/g, (_, name: string, from: string, to: string) => {
      const table = find(name);
      const end = to === 'NULL' ? context.now : Number(to);
      if (end > context.now) throw new SqlError('end_timestamp is in the future');
      scans.push({
        ref: table.ref,
        columns: table.fields.map((field) => field.name),
        appends: { from: Number(from), to: end },
      });
      return `(SELECT *, _commit_time AS _CHANGE_TIMESTAMP FROM ${table.duckdb} WHERE epoch_us(_commit_time) >= ${from} AND epoch_us(_commit_time) < ${end})`;
    })
    .replace(/`([^`]+)`/g, (_, name: string) => {
      const table = find(name);
      scans.push({ ref: table.ref, columns: table.fields.map((field) => field.name) });
      return table.duckdb;
    })
    .replace(/CURRENT_TIMESTAMP\(\)/g, `make_timestamptz(${context.now})`)
    .replace(/@(\w+)/g, (_, name: string) => value(name));
  const kind = /^\s*(\w+)/.exec(sql)?.[1]?.toLowerCase();
  if (kind !== 'select' && kind !== 'insert' && kind !== 'update' && kind !== 'delete') {
    throw new SqlError(`Syntax error: Unexpected identifier "${kind}" at [1:1]`);
  }
  const hint = /\/\*([^*]*)\*\//.exec(sql)?.[1] ?? '';
  const fields: Field[] = hint
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [name, type] = part.trim().split(' ') as [string, FieldType];
      return { name, type };
    });
  const target = kind === 'select' ? undefined : scans[0]?.ref;
  const changes = { select: undefined, insert: 'inserted', update: 'updated', delete: 'deleted' } as const;
  return { kind, statements: [text], changes: [changes[kind]], fields, scans, ...(target && { target }) };
}
