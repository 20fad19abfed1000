import type { Call, Expr, TypeName } from './ast.ts';
import { parseCall, parsePart } from './parse-call.ts';
import type { Parser } from './parser.ts';
import { atQuery, parseQuery } from './parse-query.ts';

const COMPARISONS = ['=', '!=', '<>', '<', '<=', '>', '>='];

export function parseExpression(p: Parser): Expr {
  return parseOr(p);
}

function parseOr(p: Parser): Expr {
  let left = parseAnd(p);
  for (let pos = p.pos; p.accept('OR'); pos = p.pos) left = { kind: 'binary', op: 'OR', left, right: parseAnd(p), pos };
  return left;
}

function parseAnd(p: Parser): Expr {
  let left = parseNot(p);
  for (let pos = p.pos; p.accept('AND'); pos = p.pos)
    left = { kind: 'binary', op: 'AND', left, right: parseNot(p), pos };
  return left;
}

function parseNot(p: Parser): Expr {
  const { pos } = p;
  return p.accept('NOT') ? { kind: 'unary', op: 'NOT', arg: parseNot(p), pos } : parseComparison(p);
}

function parseComparison(p: Parser): Expr {
  const left = parseBinary(p, 0);
  const { pos } = p;
  const op = p.peek().kind === 'op' ? p.peek().text : '';
  if (COMPARISONS.includes(op)) {
    p.next();
    return { kind: 'binary', op: op === '<>' ? '!=' : op, left, right: parseBinary(p, 0), pos };
  }
  if (p.accept('IS')) {
    const not = p.accept('NOT');
    const { pos: at } = p;
    for (const what of ['NULL', 'TRUE', 'FALSE'] as const) {
      if (p.accept(what)) return { kind: 'is', arg: left, not, what, pos };
    }
    throw p.refuse('IS DISTINCT FROM', at);
  }
  const not = (p.at('NOT', 'IN') || p.at('NOT', 'LIKE') || p.at('NOT', 'BETWEEN')) && p.accept('NOT');
  if (p.accept('IN')) return parseIn(p, left, not, pos);
  if (p.accept('BETWEEN')) {
    const low = parseBinary(p, 0);
    p.expect('AND');
    return { kind: 'between', arg: left, low, high: parseBinary(p, 0), not, pos };
  }
  if (p.accept('LIKE')) {
    if (p.at('ANY') || p.at('ALL') || p.at('SOME')) throw p.refuse('LIKE ANY/ALL');
    const like: Expr = { kind: 'binary', op: 'LIKE', left, right: parseBinary(p, 0), pos };
    return not ? { kind: 'unary', op: 'NOT', arg: like, pos } : like;
  }
  return left;
}

function parseIn(p: Parser, arg: Expr, not: boolean, pos: number): Expr {
  if (p.accept('UNNEST')) return { kind: 'in', arg, not, unnest: p.parens(() => parseExpression(p)), pos };
  return p.parens((): Expr => {
    if (atQuery(p)) return { kind: 'in', arg, not, query: parseQuery(p), pos };
    return { kind: 'in', arg, not, list: p.list(() => parseExpression(p)), pos };
  });
}

/** Binary operators from loose to tight. */
const LEVELS = [['|'], ['^'], ['&'], ['<<', '>>'], ['+', '-'], ['*', '/', '||']];

function parseBinary(p: Parser, level: number): Expr {
  const operators = LEVELS[level];
  if (!operators) return parseUnary(p);
  let left = parseBinary(p, level + 1);
  for (;;) {
    const { kind, text, pos } = p.peek();
    if (kind !== 'op' || !operators.includes(text)) return left;
    if (level < 4) throw p.refuse(`The operator ${text}`);
    p.next();
    left = { kind: 'binary', op: text, left, right: parseBinary(p, level + 1), pos };
  }
}

function parseUnary(p: Parser): Expr {
  const { pos } = p;
  if (p.accept('+')) return parseUnary(p);
  if (p.at('~')) throw p.refuse('The operator ~');
  if (!p.accept('-')) return parsePostfix(p);
  const arg = parseUnary(p);
  if (arg.kind === 'literal' && (arg.type === 'INT64' || arg.type === 'FLOAT64') && !arg.value.startsWith('-')) {
    return { ...arg, value: `-${arg.value}`, pos };
  }
  return { kind: 'unary', op: '-', arg, pos };
}

function parsePostfix(p: Parser): Expr {
  let base = parsePrimary(p);
  for (;;) {
    const { pos } = p;
    if (p.at('.') && p.peek(1).text !== '*') {
      p.next();
      const name = p.anyName();
      base = base.kind === 'path' ? { ...base, names: [...base.names, name] } : { kind: 'field', base, name, pos };
    } else if (p.accept('[')) {
      const word = p.peek().text.toUpperCase();
      const mode =
        ['OFFSET', 'SAFE_OFFSET', 'ORDINAL', 'SAFE_ORDINAL'].includes(word) && p.peek(1).text === '(' ? word : '';
      if (mode) p.next();
      const index = mode ? p.parens(() => parseExpression(p)) : parseExpression(p);
      p.expect(']');
      base = { kind: 'index', base, index, mode, pos };
    } else return base;
  }
}

const TYPED_LITERALS = ['TIMESTAMP', 'DATE', 'DATETIME', 'TIME', 'NUMERIC', 'DECIMAL', 'JSON'];

function parsePrimary(p: Parser): Expr {
  const token = p.peek();
  const { pos } = token;
  switch (token.kind) {
    case 'integer':
      p.next();
      return { kind: 'literal', type: 'INT64', value: BigInt(token.text).toString(), pos };
    case 'float':
      p.next();
      return { kind: 'literal', type: 'FLOAT64', value: token.text, pos };
    case 'string':
    case 'bytes':
      p.next();
      return { kind: 'literal', type: token.kind === 'string' ? 'STRING' : 'BYTES', value: token.text, pos };
    case 'param':
      p.next();
      return { kind: 'param', name: token.text, pos };
    case 'op':
      return parseBracket(p);
    case 'end':
      throw p.unexpected('expected an expression');
    case 'quoted':
    case 'name':
  }
  const word = token.kind === 'name' ? token.text.toUpperCase() : '';
  if (p.accept('NULL')) return { kind: 'literal', type: 'NULL', value: '', pos };
  if (p.accept('TRUE')) return { kind: 'literal', type: 'BOOL', value: 'true', pos };
  if (p.accept('FALSE')) return { kind: 'literal', type: 'BOOL', value: 'false', pos };
  if (TYPED_LITERALS.includes(word) && p.peek(1).kind === 'string') {
    p.next();
    return { kind: 'typed', type: word === 'DECIMAL' ? 'NUMERIC' : word, value: p.next().text, pos };
  }
  if (p.accept('CASE')) return parseCase(p, pos);
  if (p.accept('INTERVAL')) return { kind: 'interval', value: parseUnary(p), part: p.anyName().toUpperCase(), pos };
  if (p.at('EXISTS', '(')) {
    p.next();
    return { kind: 'subquery', mode: 'exists', query: p.parens(() => parseQuery(p)), pos };
  }
  if (p.accept('ARRAY')) return parseArray(p, pos);
  if (p.accept('STRUCT')) return parseStruct(p, pos);
  if ((word === 'CAST' || word === 'SAFE_CAST') && p.peek(1).text === '(') return parseCast(p, pos);
  if (p.accept('EXTRACT')) return parseExtract(p, pos);
  if (word === 'IF' || word === 'LEFT' || word === 'RIGHT') {
    if (p.peek(1).text === '(') return parseCall(p, p.next().text, false, pos);
  }
  const name = p.name('an expression');
  if (word === 'SAFE' && p.at('.') && p.peek(2).text === '(') {
    p.next();
    return parseCall(p, p.anyName(), true, pos);
  }
  if (p.at('(')) return parseCall(p, name, false, pos);
  if (word === 'CURRENT_TIMESTAMP' || word === 'CURRENT_DATE') return call(word, [], pos);
  return { kind: 'path', names: [name], pos };
}

function call(name: string, args: readonly Expr[], pos: number): Call {
  return { kind: 'call', name, safe: false, args, star: false, distinct: false, orderBy: [], pos };
}

function parseBracket(p: Parser): Expr {
  const { pos } = p;
  if (p.accept('[')) return finishArray(p, pos);
  if (!p.accept('(')) throw p.unexpected('expected an expression');
  if (atQuery(p)) {
    const query = parseQuery(p);
    p.expect(')');
    return { kind: 'subquery', mode: 'scalar', query, pos };
  }
  const first = parseExpression(p);
  if (!p.at(',')) {
    p.expect(')');
    return first;
  }
  p.next();
  const rest = p.list(() => parseExpression(p));
  p.expect(')');
  return { kind: 'struct', fields: [first, ...rest].map((value) => ({ value })), pos };
}

function parseCase(p: Parser, pos: number): Expr {
  const operand = p.at('WHEN') ? undefined : parseExpression(p);
  const whens: [Expr, Expr][] = [];
  while (p.accept('WHEN')) {
    const when = parseExpression(p);
    p.expect('THEN');
    whens.push([when, parseExpression(p)]);
  }
  if (whens.length === 0) throw p.unexpected('expected WHEN');
  const otherwise = p.accept('ELSE') ? parseExpression(p) : undefined;
  p.expect('END');
  return { kind: 'case', whens, pos, ...(operand && { operand }), ...(otherwise && { otherwise }) };
}

function finishArray(p: Parser, pos: number, element?: TypeName): Expr {
  const items = p.at(']') ? [] : p.list(() => parseExpression(p));
  p.expect(']');
  return { kind: 'array', items, pos, ...(element && { element }) };
}

function parseArray(p: Parser, pos: number): Expr {
  if (p.accept('(')) {
    const query = parseQuery(p);
    p.expect(')');
    return { kind: 'subquery', mode: 'array', query, pos };
  }
  let element: TypeName | undefined;
  if (p.accept('<')) {
    element = parseType(p);
    p.expect('>');
  }
  p.expect('[');
  return finishArray(p, pos, element);
}

function parseStruct(p: Parser, pos: number): Expr {
  const types = p.at('<') ? structTypes(p) : undefined;
  p.expect('(');
  const fields = p.at(')')
    ? []
    : p.list(() => {
        const value = parseExpression(p);
        const name = p.accept('AS') ? p.name() : undefined;
        return name === undefined ? { value } : { name, value };
      });
  p.expect(')');
  return { kind: 'struct', fields, pos, ...(types && { types }) };
}

function parseCast(p: Parser, pos: number): Expr {
  const safe = p.next().text.toUpperCase() === 'SAFE_CAST';
  return p.parens((): Expr => {
    const arg = parseExpression(p);
    p.expect('AS');
    const type = parseType(p);
    if (p.at('FORMAT') || p.at('AT')) throw p.refuse('CAST ... FORMAT');
    return { kind: 'cast', arg, type, safe, pos };
  });
}

function structTypes(p: Parser): { name: string; type: TypeName }[] {
  p.expect('<');
  const fields = p.list(() => ({ name: p.name('a field name'), type: parseType(p) }));
  p.expect('>');
  return fields;
}

export function parseType(p: Parser): TypeName {
  const { pos } = p;
  if (p.accept('ARRAY')) {
    p.expect('<');
    const element = parseType(p);
    p.expect('>');
    return { kind: 'array', element, pos };
  }
  if (p.accept('STRUCT')) return { kind: 'struct', fields: structTypes(p), pos };
  const name = p.anyName().toUpperCase();
  if (p.at('(')) throw p.refuse('A type with parameters');
  return { kind: 'simple', name, pos };
}

function parseExtract(p: Parser, pos: number): Expr {
  return p.parens((): Expr => {
    const part = parsePart(p);
    p.expect('FROM');
    const arg = parseExpression(p);
    const zone = p.accept('AT', 'TIME', 'ZONE') ? parseExpression(p) : undefined;
    return { kind: 'extract', part, arg, pos, ...(zone && { zone }) };
  });
}
