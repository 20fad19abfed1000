/** A parsed JSON pointer (RFC 6901). */
export interface Pointer {
  readonly text: string;
  readonly path: readonly string[];
}

export function parsePointer(text: string): Pointer {
  if (!text.startsWith('/')) throw new Error(`expected a JSON pointer such as /amount, got ${JSON.stringify(text)}`);
  const unescape = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~');
  return { text, path: text.slice(1).split('/').map(unescape) };
}

/**
 * Source text of the value that a pointer names in a JSON text, exactly as it was written; null when there is none.
 * A repeated member counts as its last, as everywhere in JavaScript. The text is known to be valid JSON.
 */
export function locate(json: string, pointer: Pointer): string | null {
  let at = skipSpace(json, 0);
  for (const step of pointer.path) {
    const next = json[at] === '{' ? member(json, at, step) : json[at] === '[' ? element(json, at, step) : null;
    if (next === null) return null;
    at = next;
  }
  return json.slice(at, skipValue(json, at));
}

function skipSpace(json: string, at: number): number {
  while (at < json.length && ' \t\r\n'.includes(json[at]!)) at++;
  return at;
}

function skipString(json: string, at: number): number {
  for (at++; at < json.length && json[at] !== '"'; at++) if (json[at] === '\\') at++;
  return at + 1;
}

/** Offset after the value that begins at `at`; without recursion, since payloads may be nested deeply. */
function skipValue(json: string, at: number): number {
  let depth = 0;
  while (at < json.length) {
    const char = json[at]!;
    if (char === '"') at = skipString(json, at);
    else if (char === '{' || char === '[') {
      depth++;
      at++;
    } else if (char === '}' || char === ']') {
      if (depth === 0) return at;
      depth--;
      at++;
    } else if (depth > 0) {
      at++;
      continue;
    } else {
      while (at < json.length && !' \t\r\n,]}'.includes(json[at]!)) at++;
    }
    if (depth === 0) return at;
  }
  return at;
}

/** Offset of a member's value in the object at `at`. */
function member(json: string, at: number, name: string): number | null {
  let found: number | null = null;
  at = skipSpace(json, at + 1);
  while (json[at] === '"') {
    const end = skipString(json, at);
    const source = json.slice(at + 1, end - 1);
    const key = source.includes('\\') ? (JSON.parse(`"${source}"`) as string) : source;
    const value = skipSpace(json, skipSpace(json, end) + 1);
    if (key === name) found = value;
    at = skipSpace(json, skipValue(json, value));
    if (json[at] === ',') at = skipSpace(json, at + 1);
  }
  return found;
}

/** Offset of an element of the array at `at`. */
function element(json: string, at: number, index: string): number | null {
  if (!/^(0|[1-9]\d{0,8})$/.test(index)) return null;
  at = skipSpace(json, at + 1);
  for (let i = Number(index); json[at] !== ']' && at < json.length; i--) {
    if (i === 0) return at;
    at = skipSpace(json, skipValue(json, at));
    if (json[at] === ',') at = skipSpace(json, at + 1);
  }
  return null;
}
