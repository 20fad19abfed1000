import type { Body, Expr, From, Query, Select, SelectItem } from './ast.ts';
import { parseOrderBy } from './parse-call.ts';
import { parseExpression } from './parse-expression.ts';
import type { Parser } from './parser.ts';

/** Whether a query starts here, possibly behind opening parentheses. */
export function atQuery(p: Parser): boolean {
  let ahead = 0;
  while (p.peek(ahead).text === '(' && p.peek(ahead).kind === 'op') ahead += 1;
  const token = p.peek(ahead);
  return token.kind === 'name' && /^(SELECT|WITH)$/i.test(token.text);
}

export function parseQuery(p: Parser): Query {
  const { pos } = p;
  const ctes: { name: string; query: Query; pos: number }[] = [];
  if (p.accept('WITH')) {
    if (p.at('RECURSIVE')) throw p.refuse('WITH RECURSIVE');
    ctes.push(
      ...p.list(() => {
        const at = p.pos;
        const name = p.name();
        p.expect('AS');
        return { name, query: p.parens(() => parseQuery(p)), pos: at };
      }),
    );
  }
  const body = parseSet(p);
  const orderBy = parseOrderBy(p);
  const limit = p.accept('LIMIT') ? parseExpression(p) : undefined;
  const offset = limit && p.accept('OFFSET') ? parseExpression(p) : undefined;
  if (p.at('|')) throw p.refuse('Pipe syntax');
  return { with: ctes, body, orderBy, pos, ...(limit && { limit }), ...(offset && { offset }) };
}

function parseSet(p: Parser): Body {
  let left = parseTerm(p);
  let first: string | undefined;
  for (;;) {
    const { pos } = p;
    const word = ['UNION', 'INTERSECT', 'EXCEPT'].find((one) => p.accept(one));
    if (word === undefined) return left;
    const quantifier = p.accept('ALL') ? 'ALL' : p.accept('DISTINCT') ? 'DISTINCT' : undefined;
    if (!quantifier) throw p.unexpected('expected ALL or DISTINCT');
    const op = `${word} ${quantifier}`;
    if (op === 'INTERSECT ALL' || op === 'EXCEPT ALL') throw p.refuse(op, pos);
    if (first !== undefined && first !== op) throw p.refuse('A mix of set operations without parentheses', pos);
    first = op;
    left = { kind: 'set', op: op as Extract<Body, { kind: 'set' }>['op'], left, right: parseTerm(p), pos };
  }
}

function parseTerm(p: Parser): Body {
  const { pos } = p;
  if (p.at('(')) return { kind: 'nested', query: p.parens(() => parseQuery(p)), pos };
  return parseSelect(p);
}

function parseSelect(p: Parser): Select {
  const { pos } = p;
  p.expect('SELECT');
  const distinct = p.accept('DISTINCT') || (p.accept('ALL') && false);
  const asStruct = p.accept('AS', 'STRUCT');
  if (p.at('AS', 'VALUE')) throw p.refuse('SELECT AS VALUE');
  const items = [parseItem(p)];
  while (p.accept(',') && !p.at('FROM')) items.push(parseItem(p));
  const from = p.accept('FROM') ? parseFrom(p) : undefined;
  const where = p.accept('WHERE') ? parseExpression(p) : undefined;
  const groupBy = p.accept('GROUP', 'BY') ? parseGroupBy(p) : [];
  const having = p.accept('HAVING') ? parseExpression(p) : undefined;
  const qualify = p.accept('QUALIFY') ? parseExpression(p) : undefined;
  if (p.at('WINDOW')) throw p.refuse('A named window');
  return {
    kind: 'select',
    distinct,
    asStruct,
    items,
    groupBy,
    pos,
    ...(from && { from }),
    ...(where && { where }),
    ...(having && { having }),
    ...(qualify && { qualify }),
  };
}

function parseGroupBy(p: Parser): Expr[] {
  for (const word of ['ALL', 'ROLLUP', 'CUBE', 'GROUPING']) if (p.at(word)) throw p.refuse(`GROUP BY ${word}`);
  return p.list(() => parseExpression(p));
}

function parseItem(p: Parser): SelectItem {
  const { pos } = p;
  if (p.accept('*')) return { kind: 'star', pos, ...parseStar(p) };
  const value = parseExpression(p);
  if (p.accept('.')) {
    p.expect('*');
    return { kind: 'star', base: value, pos, ...parseStar(p) };
  }
  const alias = p.alias();
  return { kind: 'expr', value, pos, ...(alias !== undefined && { alias }) };
}

function parseStar(p: Parser): { except: string[]; replace: { name: string; value: Expr }[] } {
  const except = p.at('EXCEPT', '(') && p.accept('EXCEPT') ? p.parens(() => p.list(() => p.name())) : [];
  const replace = p.accept('REPLACE')
    ? p.parens(() =>
        p.list(() => {
          const value = parseExpression(p);
          p.expect('AS');
          return { name: p.name(), value };
        }),
      )
    : [];
  return { except, replace };
}

export function parseFrom(p: Parser): From {
  let left = parseRelation(p);
  for (;;) {
    const { pos } = p;
    if (p.accept(',')) {
      left = { kind: 'join', type: 'CROSS', left, right: parseRelation(p), pos };
      continue;
    }
    const type = parseJoinType(p);
    if (!type) return left;
    const right = parseRelation(p);
    const using = type !== 'CROSS' && p.accept('USING') ? p.parens(() => p.list(() => p.name())) : undefined;
    const on = type !== 'CROSS' && !using && p.accept('ON') ? parseExpression(p) : undefined;
    if (type !== 'CROSS' && !using && !on && right.kind !== 'unnest' && type !== 'INNER') {
      throw p.unexpected(`expected ON or USING after ${type} JOIN`);
    }
    left = {
      kind: 'join',
      type: type === 'INNER' && !using && !on ? 'CROSS' : type,
      left,
      right,
      pos,
      ...(using && { using }),
      ...(on && { on }),
    };
  }
}

function parseJoinType(p: Parser): Extract<From, { kind: 'join' }>['type'] | undefined {
  if (p.accept('JOIN') || p.accept('INNER', 'JOIN')) return 'INNER';
  if (p.accept('CROSS', 'JOIN')) return 'CROSS';
  for (const type of ['LEFT', 'RIGHT', 'FULL'] as const) {
    if (p.accept(type, 'JOIN') || p.accept(type, 'OUTER', 'JOIN')) return type;
  }
  if (p.at('NATURAL')) throw p.refuse('NATURAL JOIN');
  return undefined;
}

export function parseRelation(p: Parser): From {
  const { pos } = p;
  if (p.at('LATERAL')) throw p.refuse('LATERAL');
  if (p.accept('UNNEST')) {
    const array = p.parens(() => parseExpression(p));
    const alias = p.at('WITH') ? undefined : p.alias();
    const offset = p.accept('WITH', 'OFFSET') ? (p.alias() ?? 'offset') : undefined;
    return {
      kind: 'unnest',
      array,
      pos,
      ...(alias !== undefined && { alias }),
      ...(offset !== undefined && { offset }),
    };
  }
  if (p.at('(')) {
    if (!atQuery(p)) return p.parens(() => parseFrom(p));
    const query = p.parens(() => parseQuery(p));
    const alias = p.alias();
    return { kind: 'query', query, pos, ...(alias !== undefined && { alias }) };
  }
  if (p.at('APPENDS', '(')) return parseAppends(p);
  const path = p.tablePath();
  if (p.at('(')) throw p.refuse(`The table function ${path.join('.')}`, pos);
  const before = p.at('FOR') ? parseSystemTime(p) : undefined;
  const alias = p.alias();
  const systemTime = before ?? (p.at('FOR') ? parseSystemTime(p) : undefined);
  if (p.at('TABLESAMPLE')) throw p.refuse('TABLESAMPLE');
  if (p.at('WITH', 'OFFSET')) throw p.refuse('WITH OFFSET without UNNEST');
  return { kind: 'table', path, pos, ...(alias !== undefined && { alias }), ...(systemTime && { systemTime }) };
}

function parseSystemTime(p: Parser): Expr {
  p.expect('FOR');
  if (!p.accept('SYSTEM_TIME')) p.expect('SYSTEM', 'TIME');
  p.expect('AS', 'OF');
  return parseExpression(p);
}

function parseAppends(p: Parser): From {
  const { pos } = p;
  p.next();
  const inner = p.parens(() => {
    p.expect('TABLE');
    const path = p.tablePath();
    const start = p.accept(',') ? parseExpression(p) : undefined;
    const end = start && p.accept(',') ? parseExpression(p) : undefined;
    return { path, ...(start && { start }), ...(end && { end }) };
  });
  const alias = p.alias();
  return { kind: 'appends', pos, ...inner, ...(alias !== undefined && { alias }) };
}
