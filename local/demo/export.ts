import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Output } from './observe.ts';
import type { Received } from './receive.ts';

/** Writes what came out as NDJSON: one file for each view, and the received results. */
export async function exportAll(folder: string, output: Output, results: readonly Received[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, rows] of Object.entries(output)) await write(path.join(folder, `${name}.ndjson`), rows);
  await write(
    path.join(folder, 'results.ndjson'),
    results.map(({ messageId, attributes, message }) => ({ message_id: messageId, attributes, message })),
  );
}

async function write(file: string, rows: readonly object[]): Promise<void> {
  await pipeline(
    Readable.from(rows).map((row: object) => `${JSON.stringify(row)}\n`),
    createWriteStream(file),
  );
}
