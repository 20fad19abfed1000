/**
 * Strict JSON (RFC 8259) by source text. JSON.parse loses what we promise to keep: digits of numbers, the order of
 * integer-like names, which of two equal names was meant. So values are only validated and cut out here, never re-printed.
 */

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** A value as it stands in the text. */
export interface JsonValue {
  readonly kind: JsonKind;
  readonly source: string;
  /** Whether a string or a name inside holds half of a surrogate pair, which UTF-8 cannot encode. */
  readonly unpaired: boolean;
}

export interface JsonMember extends JsonValue {
  readonly name: string;
  /** With its quotes and escapes. */
  readonly nameSource: string;
}

/** What is nested deeper, the object of the event included, is refused: BigQuery's JSON functions take 500 levels. */
export const MAX_DEPTH = 500;

export class JsonError extends Error {
  readonly reason: 'syntax' | 'depth';
  constructor(reason: 'syntax' | 'depth', message: string) {
    super(message);
    this.name = 'JsonError';
    this.reason = reason;
  }
}

const PLAIN = /[ !#-[\]-\uffff]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const HEX = /[0-9a-fA-F]{4}/y;
const LITERALS = { t: 'true', f: 'false', n: 'null' } as const;
const ESCAPES = new Set('"\\/bfnrt');

/** Reads through one text. Nesting is a list, not the call stack, so that no input can overflow it. */
class Scanner {
  readonly text: string;
  at = 0;
  unpaired = false;
  /** Levels around the values that are read. */
  outside = 0;

  constructor(text: string) {
    this.text = text;
  }

  fail(expected: string): never {
    const found = this.at < this.text.length ? JSON.stringify(this.text[this.at]) : 'the end';
    throw new JsonError('syntax', `expected ${expected} at character ${this.at}, found ${found}`);
  }

  match(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }

  /** The next character after white space, not consumed. */
  peek(): string | undefined {
    // Most tokens follow each other; the expression costs as much as all the rest of them.
    if (this.text.charCodeAt(this.at) <= 32) this.match(SPACE);
    return this.text[this.at];
  }

  string(): void {
    if (this.text[this.at] !== '"') this.fail('"');
    this.at++;
    let high = false;
    for (;;) {
      const start = this.at;
      this.match(PLAIN);
      if (this.at > start) high = this.pair(high, null);
      const char = this.text[this.at];
      if (char === '"') break;
      if (char !== '\\') this.fail('a closing "');
      high = this.pair(high, this.escape());
    }
    this.pair(high, null);
    this.at++;
  }

  /** Code unit of a \u escape, null for the others. */
  private escape(): number | null {
    this.at++;
    const char = this.text[this.at];
    if (char === undefined) this.fail('an escape');
    if (ESCAPES.has(char)) {
      this.at++;
      return null;
    }
    if (char !== 'u') this.fail('an escape');
    this.at++;
    const digits = this.at;
    if (!this.match(HEX)) this.fail('four hexadecimal digits');
    return parseInt(this.text.slice(digits, this.at), 16);
  }

  /** Notes a surrogate without its other half; whether an open high half came now. */
  private pair(high: boolean, unit: number | null): boolean {
    const low = unit !== null && unit >= 0xdc00 && unit <= 0xdfff;
    if (high !== low) this.unpaired = true;
    return unit !== null && unit >= 0xd800 && unit <= 0xdbff;
  }

  private scalar(char: string | undefined): JsonKind {
    if (char === '"') {
      this.string();
      return 'string';
    }
    if (char === 't' || char === 'f' || char === 'n') {
      const literal = LITERALS[char];
      if (!this.text.startsWith(literal, this.at)) this.fail('a JSON value');
      this.at += literal.length;
      return char === 'n' ? 'null' : 'boolean';
    }
    if (!this.match(NUMBER)) this.fail('a JSON value');
    return 'number';
  }

  name(): void {
    this.peek();
    this.string();
    if (this.peek() !== ':') this.fail(':');
    this.at++;
  }

  /** One value of any kind, from the next character that is not white space. */
  value(): JsonKind {
    const open: ('{' | '[')[] = [];
    let outer: JsonKind | undefined;
    for (;;) {
      const char = this.peek();
      let closed = true;
      if (char === '{' || char === '[') {
        outer ??= char === '{' ? 'object' : 'array';
        if (this.outside + open.length >= MAX_DEPTH)
          throw new JsonError('depth', `nested deeper than ${MAX_DEPTH} levels`);
        this.at++;
        closed = this.peek() === (char === '{' ? '}' : ']');
        if (closed) this.at++;
        else {
          open.push(char);
          if (char === '{') this.name();
        }
      } else {
        const kind = this.scalar(char);
        outer ??= kind;
      }
      if (closed && this.close(open)) return outer;
    }
  }

  /** After a value: leaves the containers that end here. True when none is open, false when another value follows. */
  private close(open: ('{' | '[')[]): boolean {
    while (open.length > 0) {
      const inObject = open.at(-1) === '{';
      const char = this.peek();
      if (char === ',') {
        this.at++;
        if (inObject) this.name();
        return false;
      }
      if (char !== (inObject ? '}' : ']')) this.fail(inObject ? ', or }' : ', or ]');
      this.at++;
      open.pop();
    }
    return true;
  }

  /** A value with its source text. */
  cut(): JsonValue {
    this.peek();
    const start = this.at;
    this.unpaired = false;
    const kind = this.value();
    return { kind, source: this.text.slice(start, this.at), unpaired: this.unpaired };
  }

  end(): void {
    if (this.peek() !== undefined) this.fail('the end');
  }
}

/** Text of a JSON string's source. */
export function unquote(source: string): string {
  return source.includes('\\') ? (JSON.parse(source) as string) : source.slice(1, -1);
}

/**
 * The members of a JSON object in their order, repeated names included; the kind of any other JSON value.
 *
 * @throws JsonError
 */
export function scanObject(text: string): readonly JsonMember[] | JsonKind {
  const scanner = new Scanner(text);
  if (scanner.peek() !== '{') {
    const { kind } = scanner.cut();
    scanner.end();
    return kind;
  }
  const members: JsonMember[] = [];
  scanner.at++;
  scanner.outside = 1;
  if (scanner.peek() === '}') scanner.at++;
  else {
    for (;;) {
      scanner.peek();
      const start = scanner.at;
      scanner.string();
      const nameSource = text.slice(start, scanner.at);
      scanner.at = start;
      scanner.name();
      members.push({ name: unquote(nameSource), nameSource, ...scanner.cut() });
      const char = scanner.peek();
      if (char !== ',' && char !== '}') scanner.fail(', or }');
      scanner.at++;
      if (char === '}') break;
    }
  }
  scanner.end();
  return members;
}

/**
 * The source texts of the elements of a JSON array, the first `most` of them; the kind of any other JSON value.
 *
 * @throws JsonError
 */
export function scanArray(text: string, most = Infinity): readonly JsonValue[] | JsonKind {
  const scanner = new Scanner(text);
  if (scanner.peek() !== '[') {
    const { kind } = scanner.cut();
    scanner.end();
    return kind;
  }
  const elements: JsonValue[] = [];
  scanner.at++;
  if (scanner.peek() === ']') scanner.at++;
  else {
    for (;;) {
      const element = scanner.cut();
      if (elements.length < most) elements.push(element);
      const char = scanner.peek();
      if (char !== ',' && char !== ']') scanner.fail(', or ]');
      scanner.at++;
      if (char === ']') break;
    }
  }
  scanner.end();
  return elements;
}

/** Whether a text is one JSON value that can be a payload: not nested too deeply inside its event, every surrogate with its other half. */
export function isPayload(text: string): boolean {
  const scanner = new Scanner(text);
  scanner.outside = 1;
  try {
    const { unpaired } = scanner.cut();
    scanner.end();
    return !unpaired;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}
