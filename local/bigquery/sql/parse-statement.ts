import type { Assignment, Expr, MergeWhen, Statement, Target } from './ast.ts';
import { parseExpression } from './parse-expression.ts';
import { atQuery, parseFrom, parseQuery, parseRelation } from './parse-query.ts';
import { Parser } from './parser.ts';

/** Parses one statement; a closing semicolon may follow. */
export function parseStatement(sql: string): Statement {
  const p = new Parser(sql);
  const statement = parseKind(p);
  p.accept(';');
  if (p.peek().kind !== 'end') throw p.unexpected('expected the end of the statement');
  return statement;
}

function parseKind(p: Parser): Statement {
  if (atQuery(p)) return { kind: 'select', query: parseQuery(p) };
  if (p.accept('INSERT')) return parseInsert(p);
  if (p.accept('UPDATE')) return parseUpdate(p);
  if (p.accept('DELETE')) {
    p.accept('FROM');
    const target = parseTarget(p);
    p.expect('WHERE');
    return { kind: 'delete', target, where: parseExpression(p) };
  }
  if (p.accept('MERGE')) return parseMerge(p);
  if (p.peek().kind === 'end') throw p.unexpected('expected a statement');
  throw p.refuse(`The statement ${p.peek().text.toUpperCase()}`);
}

function parseTarget(p: Parser): Target {
  const { pos } = p;
  const path = p.tablePath();
  const alias = p.at('VALUES') || p.at('USING') || p.at('SET') ? undefined : p.alias();
  return { path, pos, ...(alias !== undefined && { alias }) };
}

/** A value, or `undefined` for DEFAULT. */
function parseValue(p: Parser): Expr | undefined {
  return p.accept('DEFAULT') ? undefined : parseExpression(p);
}

function parseInsert(p: Parser): Statement {
  p.accept('INTO');
  const { pos } = p;
  const target: Target = { path: p.tablePath(), pos };
  const columns = p.at('(') && !atQuery(p) ? p.parens(() => p.list(() => p.name())) : undefined;
  const common = { kind: 'insert' as const, target, ...(columns && { columns }) };
  if (p.accept('VALUES')) return { ...common, rows: p.list(() => p.parens(() => p.list(() => parseValue(p)))) };
  if (!atQuery(p)) throw p.unexpected('expected VALUES or a query');
  return { ...common, query: parseQuery(p) };
}

function parseAssignment(p: Parser): Assignment {
  const { pos } = p;
  const names = [p.name()];
  while (p.accept('.')) names.push(p.anyName());
  p.expect('=');
  const value = parseValue(p);
  const column = names.at(-1) ?? '';
  if (names.length > 2) throw p.refuse('An assignment to a field of a STRUCT', pos);
  return { column, pos, ...(value && { value }), ...(names.length === 2 && { qualifier: names[0] ?? '' }) };
}

function parseUpdate(p: Parser): Statement {
  const target = parseTarget(p);
  p.expect('SET');
  const set = p.list(() => parseAssignment(p));
  const from = p.accept('FROM') ? parseFrom(p) : undefined;
  p.expect('WHERE');
  return { kind: 'update', target, set, where: parseExpression(p), ...(from && { from }) };
}

function parseMerge(p: Parser): Statement {
  p.accept('INTO');
  const target = parseTarget(p);
  p.expect('USING');
  const source = parseRelation(p);
  p.expect('ON');
  const on = parseExpression(p);
  const whens: MergeWhen[] = [];
  while (p.at('WHEN')) whens.push(parseWhen(p));
  if (whens.length === 0) throw p.unexpected('expected WHEN');
  return { kind: 'merge', target, source, on, whens };
}

function parseWhen(p: Parser): MergeWhen {
  const { pos } = p;
  p.expect('WHEN');
  let match: MergeWhen['match'] = 'matched';
  if (p.accept('NOT')) {
    p.expect('MATCHED');
    match = p.accept('BY', 'SOURCE') ? 'by-source' : 'by-target';
    if (match === 'by-target') p.accept('BY', 'TARGET');
  } else p.expect('MATCHED');
  const condition = p.accept('AND') ? parseExpression(p) : undefined;
  p.expect('THEN');
  const action = parseAction(p);
  if ((action.kind === 'insert') !== (match === 'by-target')) {
    throw p.refuse(`${action.kind.toUpperCase()} in this WHEN clause`, pos);
  }
  return { match, action, pos, ...(condition && { condition }) };
}

function parseAction(p: Parser): MergeWhen['action'] {
  if (p.accept('DELETE')) return { kind: 'delete' };
  if (p.accept('UPDATE')) {
    p.expect('SET');
    return { kind: 'update', set: p.list(() => parseAssignment(p)) };
  }
  p.expect('INSERT');
  const columns = p.at('(') ? p.parens(() => p.list(() => p.name())) : undefined;
  if (p.accept('ROW')) return { kind: 'insert', ...(columns && { columns }) };
  p.expect('VALUES');
  const values = p.parens(() => p.list(() => parseValue(p)));
  return { kind: 'insert', values, ...(columns && { columns }) };
}
