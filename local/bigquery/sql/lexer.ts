import { SqlError } from './types.ts';

export type TokenKind = 'name' | 'quoted' | 'param' | 'integer' | 'float' | 'string' | 'bytes' | 'op' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** Operators and names as written (names without backquotes); literals decoded (bytes as hex). */
  readonly text: string;
  readonly pos: number;
  readonly end: number;
}

/** A refusal that says where: `... at [line:column]`. */
export function errorAt(sql: string, pos: number, message: string, reason?: string): SqlError {
  const before = sql.slice(0, pos).split('\n');
  return new SqlError(`${message} at [${before.length}:${(before.at(-1) ?? '').length + 1}]`, reason);
}

const SPACE = /(?:\s+|--[^\n]*|#[^\n]*|\/\*[^]*?\*\/)+/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const STRING = /([rR][bB]?|[bB][rR]?)?("""|'''|"|')/y;
const OPERATORS = /<<|>>|<=|>=|<>|!=|\|\||=>|@@|[-+*/,.()[\]<>=;:?&|^~@{}]/y;

/** Splits a statement into tokens, the last of kind `end`. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(sql);
  };
  const push = (kind: TokenKind, text: string, end: number): void => {
    tokens.push({ kind, text, pos: at, end });
    at = end;
  };
  for (;;) {
    at += take(SPACE)?.[0].length ?? 0;
    if (at >= sql.length) break;
    const quote = take(STRING);
    if (quote) {
      const prefix = (quote[1] ?? '').toLowerCase();
      const { body, end } = scanString(sql, at + quote[0].length, quote[2] ?? '', at);
      const raw = prefix.includes('r');
      if (prefix.includes('b')) push('bytes', bytesHex(sql, body, raw, at), end);
      else push('string', raw ? body : unescapeText(sql, body, at), end);
      continue;
    }
    const name = take(NAME);
    if (name) {
      push('name', name[0], at + name[0].length);
      continue;
    }
    const number = take(NUMBER);
    if (number && !(number[0].startsWith('.') && /[A-Za-z0-9_`)\]]/.test(sql[at - 1] ?? ''))) {
      const float = !/^0[xX]/.test(number[0]) && /[.eE]/.test(number[0]);
      push(float ? 'float' : 'integer', number[0], at + number[0].length);
      continue;
    }
    if (sql[at] === '`') {
      const end = sql.indexOf('`', at + 1);
      if (end < 0) throw errorAt(sql, at, 'Syntax error: Unclosed identifier literal');
      if (end === at + 1) throw errorAt(sql, at, 'Syntax error: Invalid empty identifier');
      push('quoted', sql.slice(at + 1, end), end + 1);
      continue;
    }
    const operator = take(OPERATORS);
    if (!operator) throw errorAt(sql, at, `Syntax error: Illegal input character "${sql[at] ?? ''}"`);
    if (operator[0] === '@') {
      const start = at;
      at += 1;
      const parameter = take(NAME);
      at = start;
      if (!parameter) throw errorAt(sql, at, 'Syntax error: a parameter name is expected after @');
      push('param', parameter[0], at + 1 + parameter[0].length);
    } else push('op', operator[0], at + operator[0].length);
  }
  tokens.push({ kind: 'end', text: '', pos: sql.length, end: sql.length });
  return tokens;
}

function scanString(sql: string, from: number, quote: string, start: number): { body: string; end: number } {
  for (let at = from; at < sql.length; at += sql[at] === '\\' ? 2 : 1) {
    if (sql.startsWith(quote, at)) return { body: sql.slice(from, at), end: at + quote.length };
    if (quote.length === 1 && sql[at] === '\n') break;
  }
  throw errorAt(sql, start, 'Syntax error: Unclosed string literal');
}

const ESCAPES: Record<string, string> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '?': '?',
  '"': '"',
  "'": "'",
  '`': '`',
};
const ESCAPE = /\\(?:([0-3][0-7]{2})|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))/g;

function unescapeText(sql: string, body: string, pos: number): string {
  return body.replace(ESCAPE, (_all, octal?: string, hex?: string, short?: string, long?: string, one?: string) => {
    if (octal !== undefined) return String.fromCodePoint(parseInt(octal, 8));
    const code = hex ?? short ?? long;
    const value = code === undefined ? -1 : parseInt(code, 16);
    if (value >= 0xd800 && (value <= 0xdfff || value > 0x10ffff)) {
      throw errorAt(sql, pos, 'Syntax error: Illegal escape sequence: not a Unicode scalar value');
    }
    if (value >= 0) return String.fromCodePoint(value);
    const simple = ESCAPES[one ?? ''];
    if (simple === undefined) throw errorAt(sql, pos, `Syntax error: Illegal escape sequence: \\${one ?? ''}`);
    return simple;
  });
}

function bytesHex(sql: string, body: string, raw: boolean, pos: number): string {
  if (raw) return Buffer.from(body).toString('hex');
  const parts: Buffer[] = [];
  let last = 0;
  for (const match of body.matchAll(ESCAPE)) {
    parts.push(Buffer.from(body.slice(last, match.index)));
    last = match.index + match[0].length;
    if (match[1] !== undefined) parts.push(Buffer.of(parseInt(match[1], 8)));
    else if (match[2] !== undefined) parts.push(Buffer.of(parseInt(match[2], 16)));
    else if (match[5] === undefined || ESCAPES[match[5]] === undefined) {
      throw errorAt(sql, pos, `Syntax error: Illegal escape sequence: ${match[0]}`);
    } else parts.push(Buffer.from(ESCAPES[match[5]] ?? ''));
  }
  parts.push(Buffer.from(body.slice(last)));
  return Buffer.concat(parts).toString('hex');
}
