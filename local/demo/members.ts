/** A member of a JSON object and where its value stands in the source text. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const SPACE = /[ \t\r\n]*/y;
const SCALAR = /[^,}\]\s]+/y;

/**
 * The members of one JSON object (already known to be valid) with the places of their values, so that a value can be
 * read or replaced without re-printing anything else. Repeated names are all there.
 */
export function members(json: string): Member[] {
  const found: Member[] = [];
  let at = skip(json, json.indexOf('{') + 1);
  while (json[at] === '"') {
    const nameEnd = stringEnd(json, at);
    const name = JSON.parse(json.slice(at, nameEnd)) as string;
    const start = skip(json, skip(json, nameEnd) + 1);
    const end = value(json, start);
    found.push({ name, start, end });
    at = skip(json, end);
    if (json[at] === ',') at = skip(json, at + 1);
  }
  return found;
}

/** End of the value that starts at `start`. */
function value(json: string, start: number): number {
  const first = json[start];
  if (first === '"') return stringEnd(json, start);
  if (first !== '{' && first !== '[') return match(SCALAR, json, start);
  let depth = 0;
  for (let at = start; at < json.length;) {
    const character = json[at];
    if (character === '"') {
      at = stringEnd(json, at);
      continue;
    }
    if (character === '{' || character === '[') depth++;
    if (character === '}' || character === ']') depth--;
    at++;
    if (depth === 0) return at;
  }
  throw new Error('unbalanced JSON');
}

/** Behind the closing quote of the string that starts at `at`. No regular expression: escapes by the million overflow it. */
export function stringEnd(json: string, at: number): number {
  for (at++; at < json.length && json[at] !== '"'; at++) if (json[at] === '\\') at++;
  return at + 1;
}

function skip(json: string, at: number): number {
  return match(SPACE, json, at);
}

function match(pattern: RegExp, json: string, at: number): number {
  pattern.lastIndex = at;
  if (!pattern.test(json)) throw new Error(`no JSON value at ${at}`);
  return pattern.lastIndex;
}
