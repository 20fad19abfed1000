import { StatusError } from '../shared/faults.ts';

type Attributes = Readonly<Record<string, string>>;
/** Decides whether a subscription gets a message. */
export type Filter = (attributes: Attributes) => boolean;

const MAX_BYTES = 256;
const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|([A-Za-z_][A-Za-z0-9_-]*)|(!=|[=:.,()-]))/y;

/**
 * Compiles an expression of Google's filter language: `attributes:K`, `attributes.K = "v"`, `attributes.K != "v"`
 * (the key must be there), `hasPrefix(attributes.K, "v")`, NOT or `-`, AND, OR and parentheses. Throws
 * INVALID_ARGUMENT for anything else.
 */
export function compileFilter(text: string): Filter {
  if (text.trim() === '') return () => true;
  if (Buffer.byteLength(text) > MAX_BYTES) throw bad(`longer than ${MAX_BYTES} bytes`);
  return new Parser(tokens(text)).parse();
}

const bad = (why: string) => new StatusError(3, `Invalid filter: ${why}.`);

function tokens(text: string): string[] {
  const found: string[] = [];
  const trimmed = text.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(trimmed);
    if (!match) throw bad(`unexpected text at ${at}`);
    found.push(match[1] ?? match[2] ?? match[3]!);
  }
  return found;
}

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;
  constructor(list: readonly string[]) {
    this.#tokens = list;
  }

  parse(): Filter {
    const filter = this.#expression();
    if (this.#at < this.#tokens.length) throw bad(`unexpected ${this.#tokens[this.#at]}`);
    return filter;
  }

  /** AND and OR do not mix without parentheses. */
  #expression(): Filter {
    const terms = [this.#term()];
    let joint: string | undefined;
    while (this.#peek() === 'AND' || this.#peek() === 'OR') {
      const word = this.#next();
      if (joint !== undefined && joint !== word) throw bad('AND and OR need parentheses between them');
      joint = word;
      terms.push(this.#term());
    }
    if (joint === 'OR') return (attributes) => terms.some((term) => term(attributes));
    return (attributes) => terms.every((term) => term(attributes));
  }

  #term(): Filter {
    const token = this.#next();
    if (token === 'NOT' || token === '-') {
      const term = this.#term();
      return (attributes) => !term(attributes);
    }
    if (token === '(') {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (token === 'hasPrefix') return this.#prefix();
    if (token === 'attributes') return this.#comparison();
    throw bad(`unexpected ${token}`);
  }

  #prefix(): Filter {
    this.#expect('(');
    this.#expect('attributes');
    this.#expect('.');
    const key = this.#key();
    this.#expect(',');
    const prefix = this.#text();
    this.#expect(')');
    return (attributes) => attributes[key]?.startsWith(prefix) ?? false;
  }

  #comparison(): Filter {
    const separator = this.#next();
    const key = this.#key();
    if (separator === ':') return (attributes) => attributes[key] !== undefined;
    if (separator !== '.') throw bad(`unexpected ${separator}`);
    const operator = this.#next();
    if (operator !== '=' && operator !== '!=') throw bad(`unexpected ${operator}`);
    const value = this.#text();
    if (operator === '=') return (attributes) => attributes[key] === value;
    return (attributes) => attributes[key] !== undefined && attributes[key] !== value;
  }

  #key(): string {
    const token = this.#next();
    if (token.startsWith('"')) return unquote(token);
    if (!/^[A-Za-z_]/.test(token)) throw bad(`unexpected ${token}`);
    return token;
  }

  #text(): string {
    const token = this.#next();
    if (!token.startsWith('"')) throw bad(`${token} is not a string literal`);
    return unquote(token);
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at];
  }

  #next(): string {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw bad('it ends too early');
    return token;
  }

  #expect(token: string): void {
    const found = this.#next();
    if (found !== token) throw bad(`expected ${token}, found ${found}`);
  }
}

function unquote(token: string): string {
  try {
    return JSON.parse(token) as string;
  } catch {
    throw bad(`${token} has an escape that is not supported here`);
  }
}
