import type { Expr, From } from './ast.ts';
import { translate } from './expression.ts';
import { rangeOf, type CompiledFrom } from './from.ts';
import { parseStatement } from './parse-statement.ts';
import { compileQuery } from './query.ts';
import { fail, refuse, type Column, type Range, type ScanState, type Scope } from './scope.ts';
import { SqlError, type Relation, type TableRef } from './types.ts';
import { fieldType, quote } from './typing.ts';

type Stored = Extract<Relation, { kind: 'table' }>;

/** What a table path means: `table`, `dataset.table` or `project.dataset.table`. */
export function resolveRef(scope: Scope, path: readonly string[], pos: number): TableRef {
  const { project, defaultDataset } = scope.state.context;
  const parts = path.length === 1 && defaultDataset !== undefined ? [...defaultDataset.split('.'), ...path] : [...path];
  const [table, dataset, own, ...more] = parts.reverse();
  if (table === undefined || dataset === undefined)
    throw fail(scope, pos, `Table "${path.join('.')}" must be qualified with a dataset (e.g. dataset.table)`);
  if (more.length > 0) throw fail(scope, pos, `Invalid table name: \`${path.join('.')}\``);
  if (/^INFORMATION_SCHEMA$/i.test(dataset)) throw refuse(scope, pos, 'INFORMATION_SCHEMA');
  if (table.includes('*')) throw refuse(scope, pos, 'A wildcard table');
  return { project: own ?? project, dataset, table };
}

export function resolveRelation(scope: Scope, path: readonly string[], pos: number): Relation {
  const ref = resolveRef(scope, path, pos);
  const relation = scope.state.context.resolve(ref);
  if (!relation) throw fail(scope, pos, `Not found: Table ${ref.project}:${ref.dataset}.${ref.table}`, 'notFound');
  return relation;
}

function key({ project, dataset, table }: TableRef): string {
  return `${project}:${dataset}.${table}`;
}

/** Notes how a table is read; one statement sees a table at one time. */
function reading(scope: Scope, ref: TableRef, how: string, pos: number): void {
  const { readings } = scope.state;
  const before = readings.get(key(ref));
  const clash = before !== undefined && before !== how && (before.startsWith('as of') || how.startsWith('as of'));
  if (clash)
    throw fail(
      scope,
      pos,
      `Table ${key(ref)} is referenced at two different times (${before} and ${how}) in one statement`,
    );
  readings.set(key(ref), how);
}

/** Registers a scan and gives the columns that an alias of the table has. */
export function scanTable(
  scope: Scope,
  table: Stored,
  alias: string,
  appends?: ScanState['appends'],
): { columns: Column[]; scan: ScanState } {
  const scan: ScanState = {
    ref: table.ref,
    columns: new Set(),
    ...(table.partitioning && { partitioning: table.partitioning.field }),
    ...(appends && { appends }),
  };
  const at = scope.state.scans.push(scan) - 1;
  const partitioned = table.partitioning?.field.toLowerCase();
  const columns = table.fields.map((field): Column => ({
    name: field.name,
    sql: `${alias}.${quote(field.name)}`,
    type: fieldType(field),
    deps: new Set([`${at}#${field.name}`]),
    ...(field.name.toLowerCase() === partitioned && { prunes: scan }),
  }));
  return { columns, scan };
}

export function compileTable(from: Extract<From, { kind: 'table' }>, scope: Scope): CompiledFrom {
  const { path, pos } = from;
  const cte = path.length === 1 ? scope.ctes.get((path[0] ?? '').toLowerCase()) : undefined;
  const alias = scope.state.alias();
  const name = from.alias ?? path.at(-1)?.split('.').at(-1);
  if (cte) {
    if (from.systemTime) throw fail(scope, pos, 'FOR SYSTEM_TIME AS OF is not allowed on a WITH subquery');
    return { sql: `${cte.sql} AS ${alias}`, ranges: [rangeOf(name, alias, cte.columns)] };
  }
  const relation = resolveRelation(scope, path, pos);
  if (relation.kind === 'view') {
    if (from.systemTime) throw refuse(scope, pos, 'FOR SYSTEM_TIME AS OF on a view');
    return compileView(relation, scope, alias, name, pos);
  }
  const { columns } = scanTable(scope, relation, alias);
  const range: Range = { alias: name, columns };
  if (!from.systemTime) {
    reading(scope, relation.ref, 'now', pos);
    return { sql: `${relation.duckdb} AS ${alias}`, ranges: [range] };
  }
  const time = constantTime(scope, from.systemTime, 'FOR SYSTEM_TIME AS OF');
  if (time === null) throw fail(scope, pos, 'FOR SYSTEM_TIME AS OF expression cannot be NULL');
  const { now, timeTravel } = scope.state.context;
  if (time > now)
    throw fail(scope, pos, `Invalid snapshot time ${time} for table ${key(relation.ref)}. Cannot read in the future`);
  if (time < now - timeTravel || time < relation.created) throw tooOld(scope, relation, time, pos);
  if (relation.mutated !== undefined && time < relation.mutated) {
    throw refuse(scope, pos, 'FOR SYSTEM_TIME AS OF before the last UPDATE, DELETE or MERGE of the table');
  }
  reading(scope, relation.ref, `as of ${time}`, pos);
  return {
    sql: `(SELECT * FROM ${relation.duckdb} WHERE _commit_time <= make_timestamptz(${time})) AS ${alias}`,
    ranges: [range],
  };
}

function compileView(
  view: Extract<Relation, { kind: 'view' }>,
  scope: Scope,
  alias: string,
  name: string | undefined,
  pos: number,
): CompiledFrom {
  const id = key(view.ref);
  if (scope.views.includes(id)) throw fail(scope, pos, `View ${id} refers to itself`);
  if (scope.views.length >= 16) throw fail(scope, pos, 'Views are nested more than 16 deep');
  const inner: Scope = {
    state: scope.state,
    sql: view.query,
    view: true,
    ranges: [],
    ctes: new Map(),
    views: [...scope.views, id],
    aggregates: false,
    windows: false,
    deps: new Set(),
  };
  try {
    const statement = parseStatement(view.query);
    if (statement.kind !== 'select') throw new SqlError('a view is a SELECT');
    const { sql, columns } = compileQuery(statement.query, inner);
    return { sql: `(${sql}) AS ${alias}`, ranges: [rangeOf(name, alias, columns)] };
  } catch (error) {
    if (error instanceof SqlError) throw new SqlError(`In view ${id}: ${error.message}`, error.reason);
    throw error;
  }
}

/** A TIMESTAMP that is known before the statement runs; NULL is `null`. */
function constantTime(scope: Scope, expr: Expr, what: string): number | null {
  const value = translate(
    expr,
    { ...scope, ranges: [], deps: new Set(), aggregates: false, windows: false },
    'TIMESTAMP',
  );
  if (value.value === null) return null;
  if (typeof value.value !== 'bigint') throw refuse(scope, expr.pos, `${what} with a time that is no constant`);
  return Number(value.value);
}

function tooOld(scope: Scope, table: Stored, time: number, pos: number): SqlError {
  const oldest = Math.max(table.created, scope.state.context.now - scope.state.context.timeTravel);
  return fail(
    scope,
    pos,
    `Invalid time travel timestamp ${Math.floor(time / 1000)} for table ${key(table.ref)}@${Math.floor(time / 1000)}. Cannot read before ${Math.floor(oldest / 1000)}`,
  );
}

/** APPENDS: rows by the commit time of the statement or stream that inserted them, `start` inclusive, `end` exclusive. */
export function compileAppends(from: Extract<From, { kind: 'appends' }>, scope: Scope): CompiledFrom {
  const { pos } = from;
  const relation = resolveRelation(scope, from.path, pos);
  if (relation.kind === 'view') throw fail(scope, pos, `APPENDS is not supported on the view ${key(relation.ref)}`);
  const { now, timeTravel } = scope.state.context;
  const start = from.start ? constantTime(scope, from.start, 'APPENDS') : null;
  const end = (from.end ? constantTime(scope, from.end, 'APPENDS') : null) ?? now;
  if (end > now)
    throw fail(
      scope,
      pos,
      `APPENDS: the end timestamp ${end} (microseconds) is in the future of the query's start ${now}`,
    );
  if ((start ?? relation.created) < now - timeTravel) throw tooOld(scope, relation, start ?? relation.created, pos);
  const window = { from: start ?? relation.created, to: end };
  reading(scope, relation.ref, 'appends', pos);
  const alias = scope.state.alias();
  const { columns } = scanTable(scope, relation, alias, window);
  const none = new Set<string>();
  const changes: Column[] = [
    { name: '_CHANGE_TYPE', sql: `${alias}."_CHANGE_TYPE"`, type: 'STRING', deps: none },
    { name: '_CHANGE_TIMESTAMP', sql: `${alias}._commit_time`, type: 'TIMESTAMP', deps: none },
  ];
  const where = `_commit_time >= make_timestamptz(${window.from}) AND _commit_time < make_timestamptz(${window.to})`;
  return {
    sql: `(SELECT *, 'INSERT' AS "_CHANGE_TYPE" FROM ${relation.duckdb} WHERE ${where}) AS ${alias}`,
    ranges: [{ alias: from.alias, columns: [...columns, ...changes] }],
  };
}
