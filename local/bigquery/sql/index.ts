import type { Statement } from './ast.ts';
import { compileDelete, compileInsert, compileMerge, compileUpdate, type CompiledDml } from './dml.ts';
import { parseStatement } from './parse-statement.ts';
import { compileQuery } from './query.ts';
import { fail, State, type Scope } from './scope.ts';
import { compiledScans } from './scans.ts';
import type { Compiled, CompileContext, Field } from './types.ts';
import { toField } from './typing.ts';

export { PRELUDE } from './prelude.ts';
export * from './types.ts';

/**
 * Compiles one GoogleSQL statement to DuckDB.
 * @throws SqlError for everything that is wrong, and for everything that is right but not supported
 */
export function compile(sql: string, context: CompileContext): Compiled {
  const statement = parseStatement(sql);
  const state = new State(context);
  const scope: Scope = {
    state,
    sql,
    view: false,
    ranges: [],
    ctes: new Map(),
    views: [],
    aggregates: false,
    windows: false,
    deps: new Set(),
  };
  if (statement.kind === 'select') return compileTopSelect(statement, scope);
  const dml = compileDml(statement, scope);
  state.use(scope.deps);
  const { target, statements, changes } = dml;
  return { kind: statement.kind, statements, changes, fields: [], target: target.ref, scans: compiledScans(state) };
}

function compileDml(statement: Exclude<Statement, { kind: 'select' }>, scope: Scope): CompiledDml {
  switch (statement.kind) {
    case 'insert':
      return compileInsert(statement, scope);
    case 'update':
      return compileUpdate(statement, scope);
    case 'delete':
      return compileDelete(statement, scope);
    case 'merge':
      return compileMerge(statement, scope);
  }
}

function compileTopSelect(statement: Extract<Statement, { kind: 'select' }>, scope: Scope): Compiled {
  const { sql, columns } = compileQuery(statement.query, scope);
  let anonymous = 0;
  const fields = columns.map((column): Field => toField(column.name ?? `f${anonymous++}_`, column.type));
  const names = fields.map((field) => field.name.toLowerCase());
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0)
    throw fail(
      scope,
      0,
      `Duplicate column names in the result are not supported. Found duplicate(s): ${twice.join(', ')}`,
    );
  for (const column of columns) scope.state.use(column.deps);
  return { kind: 'select', statements: [sql], changes: [undefined], fields, scans: compiledScans(scope.state) };
}
