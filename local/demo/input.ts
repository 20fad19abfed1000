import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { InputError } from './options.ts';

/** A line that is not empty, and its number in the file, from 1. */
export interface Line {
  readonly text: string;
  readonly number: number;
}

const GZIP = Buffer.from([0x1f, 0x8b]);
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'no permission to read it',
};

/**
 * The lines of an NDJSON file, plain or gzip; `-` is standard input. Empty lines are left out.
 *
 * @throws InputError that names the file, and the line where there is one
 */
export async function numberedLines(file: string): Promise<Line[]> {
  const bytes = await contents(file);
  const lines: Line[] = [];
  for (let at = 0, number = 1; at < bytes.length; number++) {
    const newline = bytes.indexOf(10, at);
    const end = newline < 0 ? bytes.length : newline;
    const line = bytes.subarray(at, end);
    if (!isUtf8(line)) throw new InputError(`${nameOf(file)}, line ${number}: not UTF-8`);
    const text = line
      .toString('utf8')
      .replace(number === 1 ? /^\uFEFF/ : '', '')
      .replace(/\r$/, '');
    if (text.trim() !== '') lines.push({ text, number });
    at = end + 1;
  }
  return lines;
}

/** Their texts alone. */
export async function readLines(file: string): Promise<string[]> {
  return (await numberedLines(file)).map(({ text }) => text);
}

/**
 * The lines of a file that must hold JSON objects, at least one: single broken lines are for the reader to judge.
 *
 * @throws InputError
 */
export async function readObjects(file: string, of: string): Promise<Line[]> {
  const lines = await numberedLines(file);
  const [first] = lines;
  if (first === undefined) throw new InputError(`${nameOf(file)} is empty: ${of} are JSON objects, one a line`);
  if (lines.some(({ text }) => isObject(text))) return lines;
  throw new InputError(
    `${nameOf(file)}, line ${first.number}: ${whatItIs(first.text)}, and no other line is one: ${of} are JSON objects, one a line${cure(file, first.text)}`,
  );
}

export const nameOf = (file: string): string => (file === '-' ? 'standard input' : file);

export function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

async function contents(file: string): Promise<Buffer> {
  let bytes: Buffer;
  try {
    bytes = file === '-' ? await buffer(process.stdin) : await readFile(file);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new InputError(`cannot read ${nameOf(file)}: ${REASONS[code] ?? message}`, { cause: error });
  }
  if (!bytes.subarray(0, 2).equals(GZIP)) return bytes;
  try {
    return gunzipSync(bytes);
  } catch (error) {
    throw new InputError(`cannot read ${nameOf(file)}: ${(error as Error).message} (gzip)`, { cause: error });
  }
}

function whatItIs(text: string): string {
  const shown = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  return `${shown} is no JSON object`;
}

/** For what people often have instead. */
function cure(file: string, text: string): string {
  const start = text.trimStart();
  const name = file === '-' ? '' : ` ${file}`;
  if (start.startsWith('[')) return `; an array becomes that by: jq -c '.[]'${name}`;
  if (/^\{\s*("|$)/.test(start)) return `; objects over several lines become that by: jq -c .${name}`;
  return /^[^{"']*[,;\t]/.test(start) ? '; this looks like CSV' : '';
}
