import { errorAt, tokenize, type Token } from './lexer.ts';
import type { SqlError } from './types.ts';

/** Words that GoogleSQL keeps for itself: no alias or column without backquotes. */
const RESERVED = new Set(
  `ALL AND ANY ARRAY AS ASC ASSERT_ROWS_MODIFIED AT BETWEEN BY CASE CAST COLLATE CONTAINS CREATE CROSS CUBE CURRENT
  DEFAULT DEFINE DESC DISTINCT ELSE END ENUM ESCAPE EXCEPT EXCLUDE EXISTS EXTRACT FALSE FETCH FOLLOWING FOR FROM FULL
  GROUP GROUPING GROUPS HASH HAVING IF IGNORE IN INNER INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT LIKE LIMIT LOOKUP
  MERGE NATURAL NEW NO NOT NULL NULLS OF ON OR ORDER OUTER OVER PARTITION PRECEDING PROTO QUALIFY RANGE RECURSIVE
  RESPECT RIGHT ROLLUP ROWS SELECT SET SOME STRUCT TABLESAMPLE THEN TO TREAT TRUE UNBOUNDED UNION UNNEST USING WHEN
  WHERE WINDOW WITH WITHIN`.split(/\s+/),
);

/** A cursor over the tokens, shared by the parsers of expressions, queries and statements. */
export class Parser {
  readonly sql: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(sql: string) {
    this.sql = sql;
    this.#tokens = tokenize(sql);
  }

  peek(ahead = 0): Token {
    const token = this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)];
    if (!token) throw new Error('no tokens');
    return token;
  }

  next(): Token {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  get pos(): number {
    return this.peek().pos;
  }

  /** Whether the coming tokens are these unquoted words or operators. */
  at(...words: readonly string[]): boolean {
    return words.every((word, index) => {
      const token = this.peek(index);
      if (token.kind === 'name') return token.text.toUpperCase() === word;
      return token.kind === 'op' && token.text === word;
    });
  }

  accept(...words: readonly string[]): boolean {
    if (!this.at(...words)) return false;
    this.#at += words.length;
    return true;
  }

  expect(...words: readonly string[]): void {
    for (const word of words) {
      if (!this.accept(word)) throw this.unexpected(`expected ${word}`);
    }
  }

  unexpected(wanted: string): SqlError {
    const token = this.peek();
    const found = token.kind === 'end' ? 'end of the statement' : `"${token.text}"`;
    return errorAt(this.sql, token.pos, `Syntax error: ${wanted} but got ${found}`);
  }

  refuse(what: string, pos = this.pos): SqlError {
    return errorAt(this.sql, pos, `${what} is not supported by the local BigQuery`);
  }

  atName(): boolean {
    const token = this.peek();
    return token.kind === 'quoted' || (token.kind === 'name' && !RESERVED.has(token.text.toUpperCase()));
  }

  /** An identifier: quoted, or an unreserved word. */
  name(what = 'an identifier'): string {
    if (!this.atName()) throw this.unexpected(`expected ${what}`);
    return this.next().text;
  }

  /** After a dot every word is a name. */
  anyName(): string {
    const token = this.peek();
    if (token.kind !== 'name' && token.kind !== 'quoted') throw this.unexpected('expected an identifier');
    return this.next().text;
  }

  /** `[AS] alias`. */
  alias(): string | undefined {
    if (this.accept('AS')) return this.name('an alias');
    return this.atName() ? this.next().text : undefined;
  }

  list<T>(one: () => T): T[] {
    const items = [one()];
    while (this.accept(',')) items.push(one());
    return items;
  }

  parens<T>(inner: () => T): T {
    this.expect('(');
    const result = inner();
    this.expect(')');
    return result;
  }

  /** A table name: backquoted whole or in parts; a project may have dashes without backquotes. */
  tablePath(): string[] {
    const names: string[] = [];
    do {
      const first = this.peek();
      let text = names.length === 0 ? this.name('a table name') : this.anyName();
      if (first.kind === 'name' && names.length === 0) {
        while (this.at('-') && this.peek().pos === this.peek(-1).end && this.peek(1).pos === this.peek().end) {
          this.next();
          text += `-${this.next().text}`;
        }
      }
      names.push(...(first.kind === 'quoted' ? text.split('.') : [text]));
    } while (this.accept('.'));
    return names;
  }
}
