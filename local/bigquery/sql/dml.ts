import type { Assignment, Expr, MergeWhen, Statement, Target } from './ast.ts';
import { coerce, nullOf } from './coerce.ts';
import { translate, translateBool } from './expression.ts';
import { compileFrom, type CompiledFrom } from './from.ts';
import { prune } from './predicate.ts';
import { compileQuery } from './query.ts';
import { fail, refuse, type Range, type ScanState, type Scope } from './scope.ts';
import { resolveRelation, scanTable } from './table.ts';
import type { Change, Field, Relation } from './types.ts';
import { fieldType, quote, type Typed } from './typing.ts';

type Stored = Extract<Relation, { kind: 'table' }>;

export interface CompiledDml {
  readonly target: Stored;
  readonly statements: readonly string[];
  readonly changes: readonly (Change | undefined)[];
}

/** Rows that a statement is about to change, computed before any of them is. */
const PLAN = 'temp.main.codaflow_changes';

function targetTable(scope: Scope, target: Target): Stored {
  const relation = resolveRelation(scope, target.path, target.pos);
  if (relation.kind === 'view')
    throw fail(scope, target.pos, `${target.path.join('.')} is a view and cannot be changed`);
  return relation;
}

function targetColumns(scope: Scope, table: Stored, names: readonly string[] | undefined, pos: number): Field[] {
  const fields = names?.map((name) => {
    const field = table.fields.find((one) => one.name.toLowerCase() === name.toLowerCase());
    if (!field)
      throw fail(scope, pos, `Column ${name} is not present in table ${table.ref.dataset}.${table.ref.table}`);
    return field;
  });
  const chosen = fields ?? [...table.fields];
  if (new Set(chosen).size !== chosen.length) throw fail(scope, pos, 'A column has duplicate assignments');
  const missing = table.fields.find((field) => field.mode === 'REQUIRED' && !chosen.includes(field));
  if (missing) throw fail(scope, pos, `Required column ${missing.name} has no value`);
  return chosen;
}

function stored(scope: Scope, expr: Expr | undefined, field: Field): Typed {
  const type = fieldType(field);
  return expr ? coerce(scope, translate(expr, scope), type, expr.pos, `Value of column ${field.name}`) : nullOf(type);
}

/** NULL arrays are stored empty, which is what BigQuery makes of them. */
function kept(value: string, field: Field): string {
  return field.mode === 'REPEATED' ? `coalesce(${value}, [])` : value;
}

function insertText(table: Stored, fields: readonly Field[], source: string): string {
  const absent = table.fields.filter((field) => field.mode === 'REPEATED' && !fields.includes(field));
  const columns = [...fields, ...absent].map((field) => quote(field.name));
  const values = [...fields.map((field, index) => kept(`v${index}`, field)), ...absent.map(() => '[]')];
  return `INSERT INTO ${table.duckdb} (${[...columns, '_commit_time'].join(', ')}) SELECT ${[...values, '$commit'].join(', ')} FROM ${source}`;
}

export function compileInsert(statement: Extract<Statement, { kind: 'insert' }>, scope: Scope): CompiledDml {
  const table = targetTable(scope, statement.target);
  const { pos } = statement.target;
  const fields = targetColumns(scope, table, statement.columns, pos);
  let source: string;
  if (statement.rows) {
    const rows = statement.rows.map((row) => {
      if (row.length !== fields.length)
        throw fail(scope, pos, `Inserted row has wrong column count; Has ${row.length}, expected ${fields.length}`);
      return `SELECT ${row.map((value, index) => `${stored(scope, value, fields[index] ?? fail2()).sql} AS v${index}`).join(', ')}`;
    });
    source = `(${rows.join(' UNION ALL ')})`;
  } else {
    if (!statement.query) throw new Error('rows or a query');
    const { sql, columns } = compileQuery(statement.query, scope);
    if (columns.length !== fields.length)
      throw fail(scope, pos, `Inserted row has wrong column count; Has ${columns.length}, expected ${fields.length}`);
    for (const column of columns) scope.state.use(column.deps);
    const values = columns.map((column, index) => {
      const field = fields[index] ?? fail2();
      return `${coerce(scope, { sql: column.sql, type: column.type }, fieldType(field), pos, `Value of column ${field.name}`).sql} AS v${index}`;
    });
    source = `(SELECT ${values.join(', ')} FROM (${sql}) AS q)`;
  }
  return { target: table, statements: [insertText(table, fields, `${source} AS s`)], changes: ['inserted'] };
}

function fail2(): never {
  throw new Error('the column count was checked');
}

interface Side {
  readonly table: Stored;
  readonly scan: ScanState;
  readonly range: Range;
  readonly alias: string;
}

function targetSide(scope: Scope, target: Target): Side {
  const table = targetTable(scope, target);
  const alias = scope.state.alias();
  const { columns, scan } = scanTable(scope, table, alias);
  return { table, scan, alias, range: { alias: target.alias ?? target.path.at(-1)?.split('.').at(-1), columns } };
}

/** UPDATE and DELETE read and write every column of the partitions they touch. */
function rewrites(side: Side): void {
  for (const field of side.table.fields) side.scan.columns.add(field.name);
}

export function compileUpdate(statement: Extract<Statement, { kind: 'update' }>, scope: Scope): CompiledDml {
  const side = targetSide(scope, statement.target);
  const source = statement.from ? compileFrom(statement.from, scope) : undefined;
  const when: MergeWhen = {
    match: 'matched',
    action: { kind: 'update', set: statement.set },
    pos: statement.target.pos,
  };
  return changes(scope, side, source, statement.where, [when]);
}

export function compileDelete(statement: Extract<Statement, { kind: 'delete' }>, scope: Scope): CompiledDml {
  const side = targetSide(scope, statement.target);
  return changes(scope, side, undefined, statement.where, [
    { match: 'matched', action: { kind: 'delete' }, pos: statement.target.pos },
  ]);
}

export function compileMerge(statement: Extract<Statement, { kind: 'merge' }>, scope: Scope): CompiledDml {
  const side = targetSide(scope, statement.target);
  return changes(scope, side, compileFrom(statement.source, scope), statement.on, statement.whens);
}

/**
 * The general form of all changes: the target joined with a source. The first statement computes for each joined row
 * which clause applies and its new values; the others check and apply them.
 */
function changes(
  scope: Scope,
  side: Side,
  source: CompiledFrom | undefined,
  on: Expr,
  whens: readonly MergeWhen[],
): CompiledDml {
  const { table, alias } = side;
  const sourceRanges = source?.ranges ?? [];
  const both: Scope = { ...scope, ranges: [side.range, ...sourceRanges] };
  const condition = translateBool(on, both, 'ON or WHERE clause').sql;
  const only = { target: { ...scope, ranges: [side.range] }, source: { ...scope, ranges: sourceRanges } };
  const scopes = { matched: both, 'by-target': only.source, 'by-source': only.target };
  const keepsTarget = whens.some((when) => when.match === 'by-source');
  const keepsSource = whens.some((when) => when.match === 'by-target');
  if (!keepsTarget) prune(both, on);
  if (whens.some((when) => when.action.kind !== 'insert')) rewrites(side);
  const present = {
    matched: source ? 'r IS NOT NULL AND p' : 'TRUE',
    'by-target': 'r IS NULL',
    'by-source': 'p IS NULL',
  };
  const actions = whens.map((when, index) => ({ when, index, scope: scopes[when.match], test: present[when.match] }));
  const guards = actions.map((action) => {
    const own = action.when.condition
      ? translateBool(action.when.condition, action.scope, 'WHEN condition').sql
      : 'TRUE';
    return `WHEN ${rowTest(action.test, alias)} AND ${own} THEN ${action.index}`;
  });
  const chosen = `CASE ${guards.join(' ')} END`;
  const plans = actions.map((action) => plan(scope, side, action.when, action.scope));
  const values: string[] = [];
  for (const [index, columns] of plans.entries()) {
    for (const [at, value] of columns.entries())
      values.push(`CASE WHEN ${chosen} = ${index} THEN ${value.value.sql} END AS a${index}v${at}`);
  }
  const join =
    keepsTarget && keepsSource ? 'FULL JOIN' : keepsTarget ? 'LEFT JOIN' : keepsSource ? 'RIGHT JOIN' : 'INNER JOIN';
  const from = source
    ? `${table.duckdb} AS ${alias} ${join} (${marked(source)}) ON ${condition}`
    : `${table.duckdb} AS ${alias} WHERE ${condition}`;
  scope.state.use(scope.deps);
  const statements = [
    `CREATE OR REPLACE TEMP TABLE codaflow_changes AS SELECT ${[`${alias}._row AS r`, `${chosen} AS a`, ...values].join(', ')} FROM ${from}`,
  ];
  const counts: (Change | undefined)[] = [undefined];
  const mutating = actions.filter((action) => action.when.action.kind !== 'insert').map((action) => action.index);
  if (mutating.length > 0 && source) {
    statements.push(
      `SELECT error('UPDATE/MERGE must match at most one source row for each target row') FROM (SELECT r FROM ${PLAN} WHERE a IN (${mutating.join(', ')}) GROUP BY r HAVING count(*) > 1) LIMIT 1`,
    );
    counts.push(undefined);
  }
  for (const kind of ['delete', 'update', 'insert'] as const) {
    for (const { when, index } of actions) {
      if (when.action.kind !== kind) continue;
      const columns = plans[index] ?? [];
      if (kind === 'delete')
        statements.push(`DELETE FROM ${table.duckdb} WHERE _row IN (SELECT r FROM ${PLAN} WHERE a = ${index})`);
      else if (kind === 'update') {
        const set = columns.map(({ field }, at) => `${quote(field.name)} = ${kept(`c.a${index}v${at}`, field)}`);
        statements.push(
          `UPDATE ${table.duckdb} AS t SET ${set.join(', ')} FROM ${PLAN} AS c WHERE t._row = c.r AND c.a = ${index}`,
        );
      } else {
        const picked = columns.map((_, at) => `a${index}v${at} AS v${at}`).join(', ');
        statements.push(
          insertText(
            table,
            columns.map((column) => column.field),
            `(SELECT ${picked} FROM ${PLAN} WHERE a = ${index}) AS s`,
          ),
        );
      }
      counts.push(`${kind.replace(/e?$/, '')}ed` as Change);
    }
  }
  return { target: table, statements, changes: counts };
}

/** Which side of the join a row has: the mark of the source is the column `p` of alias `m`. */
function rowTest(test: string, alias: string): string {
  return test.replace('r IS', `${alias}._row IS`).replace(/\bp\b/, 'm.p');
}

function marked(source: CompiledFrom): string {
  return `${source.sql} CROSS JOIN (SELECT TRUE AS p) AS m`;
}

function plan(scope: Scope, side: Side, when: MergeWhen, inner: Scope): { field: Field; value: Typed }[] {
  const { action, pos } = when;
  if (action.kind === 'delete') return [];
  if (action.kind === 'update') return action.set.map((one) => assigned(scope, side, one, inner));
  const fields = targetColumns(scope, side.table, action.columns, pos);
  const values = action.values ?? fields.map((field): Expr => ({ kind: 'path', names: [field.name], pos }));
  if (values.length !== fields.length)
    throw fail(scope, pos, `Inserted row has wrong column count; Has ${values.length}, expected ${fields.length}`);
  return fields.map((field, index) => ({ field, value: stored(inner, values[index], field) }));
}

function assigned(scope: Scope, side: Side, one: Assignment, inner: Scope): { field: Field; value: Typed } {
  const { column, qualifier, pos } = one;
  if (qualifier !== undefined && qualifier.toLowerCase() !== side.range.alias?.toLowerCase())
    throw refuse(scope, pos, 'An assignment to a field of a STRUCT');
  const field = side.table.fields.find((candidate) => candidate.name.toLowerCase() === column.toLowerCase());
  if (!field) throw fail(scope, pos, `Column ${column} is not present in table ${side.table.ref.table}`);
  return { field, value: stored(inner, one.value, field) };
}
