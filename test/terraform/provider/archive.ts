import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { isObject, type Value, type ValueObject } from './values.ts';

/** The data source `archive_file` with `source` blocks: writes a zip that depends on nothing but names and contents. */
export function archiveFile(config: ValueObject, directory: string): Readonly<Record<string, Value>> {
  const files = (Array.isArray(config['source']) ? (config['source'] as readonly Value[]) : [])
    .filter(isObject)
    .map((file): [string, Buffer] => [file['filename'] as string, Buffer.from(file['content'] as string)])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (files.length === 0) throw new Error('archive_file: nothing to archive');
  const zip = makeZip(files);
  const output = path.resolve(directory, config['output_path'] as string);
  mkdirSync(path.dirname(output), { recursive: true });
  writeFileSync(output, zip);
  const sha256 = createHash('sha256').update(zip);
  return { id: sha256.copy().digest('hex'), output_size: zip.length, output_sha256: sha256.digest('hex') };
}

function makeZip(files: readonly (readonly [string, Buffer])[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, data] of files) {
    const encoded = Buffer.from(name);
    const packed = deflateRawSync(data);
    const header = Buffer.alloc(26); // common to the local and the central header
    header.writeUInt16LE(20, 0);
    header.writeUInt16LE(8, 4);
    header.writeUInt16LE(0x21, 8);
    header.writeUInt32LE(crc32(data), 10);
    header.writeUInt32LE(packed.length, 14);
    header.writeUInt32LE(data.length, 18);
    header.writeUInt16LE(encoded.length, 22);
    parts.push(Buffer.from('504b0304', 'hex'), header, encoded, packed);
    const central = Buffer.alloc(14);
    central.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('504b01021403', 'hex'), header, central, encoded);
    offset += 30 + encoded.length + packed.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, index, end]);
}
