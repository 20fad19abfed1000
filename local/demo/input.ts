import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

const GZIP = Buffer.from([0x1f, 0x8b]);

/**
 * The lines of an NDJSON file, plain or gzip; `-` is standard input. Empty lines are left out.
 *
 * @throws Error that names the file when it cannot be read
 */
export async function readLines(file: string): Promise<string[]> {
  let bytes: Buffer;
  try {
    bytes = file === '-' ? await buffer(process.stdin) : await readFile(file);
  } catch (error) {
    throw new Error(`cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
  const text = bytes.subarray(0, 2).equals(GZIP) ? gunzipSync(bytes) : bytes;
  return text
    .toString('utf8')
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line.trim() !== '');
}
