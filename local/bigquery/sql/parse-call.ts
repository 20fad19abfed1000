import type { Expr, OrderItem, Window } from './ast.ts';
import { parseExpression } from './parse-expression.ts';
import type { Parser } from './parser.ts';

/** A date part, with the weekday of `WEEK(MONDAY)`. */
export function parsePart(p: Parser): string {
  const part = p.anyName().toUpperCase();
  return part === 'WEEK' && p.at('(') ? `WEEK(${p.parens(() => p.anyName().toUpperCase())})` : part;
}

export function parseCall(p: Parser, name: string, safe: boolean, pos: number): Expr {
  p.expect('(');
  const star = p.accept('*');
  const distinct = !star && p.accept('DISTINCT');
  const args = star || p.at(')') ? [] : p.list(() => parseArgument(p));
  const nulls = p.accept('IGNORE', 'NULLS') ? 'IGNORE' : p.accept('RESPECT', 'NULLS') ? 'RESPECT' : undefined;
  if (p.at('HAVING')) throw p.refuse('HAVING MAX/MIN inside an aggregate');
  const orderBy = parseOrderBy(p);
  const limit = p.accept('LIMIT') ? parseExpression(p) : undefined;
  p.expect(')');
  const over = p.accept('OVER') ? parseWindow(p) : undefined;
  return {
    kind: 'call',
    name: name.toUpperCase(),
    safe,
    args,
    star,
    distinct,
    orderBy,
    pos,
    ...(nulls && { nulls }),
    ...(limit && { limit }),
    ...(over && { over }),
  };
}

function parseArgument(p: Parser): Expr {
  // WEEK(MONDAY) as a date part would otherwise read as a call.
  if (p.at('WEEK', '(')) return { kind: 'path', names: [parsePart(p)], pos: p.pos };
  const arg = parseExpression(p);
  if (p.at('=>')) throw p.refuse('A named argument');
  return arg;
}

export function parseOrderBy(p: Parser): OrderItem[] {
  if (!p.accept('ORDER', 'BY')) return [];
  return p.list(() => {
    const value = parseExpression(p);
    if (p.at('COLLATE')) throw p.refuse('COLLATE');
    const descending = p.accept('DESC') || (p.accept('ASC') && false);
    const nulls = p.accept('NULLS', 'FIRST') ? 'FIRST' : p.accept('NULLS', 'LAST') ? 'LAST' : undefined;
    return { value, descending, ...(nulls && { nulls }) };
  });
}

function parseWindow(p: Parser): Window {
  if (!p.at('(')) throw p.refuse('A named window');
  return p.parens(() => {
    if (p.atName()) throw p.refuse('A named window');
    const partitionBy = p.accept('PARTITION', 'BY') ? p.list(() => parseExpression(p)) : [];
    const orderBy = parseOrderBy(p);
    const frame = p.at('ROWS') || p.at('RANGE') ? parseFrame(p) : undefined;
    return { partitionBy, orderBy, ...(frame !== undefined && { frame }) };
  });
}

function parseFrame(p: Parser): string {
  const unit = p.next().text.toUpperCase();
  const bound = (): string => {
    if (p.accept('CURRENT', 'ROW')) return 'CURRENT ROW';
    const token = p.next();
    const numeric = token.kind === 'integer' && unit === 'ROWS';
    if (!numeric && token.text.toUpperCase() !== 'UNBOUNDED') throw p.refuse('This window frame', token.pos);
    if (p.accept('PRECEDING')) return `${token.text.toUpperCase()} PRECEDING`;
    p.expect('FOLLOWING');
    return `${token.text.toUpperCase()} FOLLOWING`;
  };
  if (!p.accept('BETWEEN')) return `${unit} ${bound()}`;
  const low = bound();
  p.expect('AND');
  return `${unit} BETWEEN ${low} AND ${bound()}`;
}
