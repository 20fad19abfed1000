import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';

/** Unpacks an archive whose local headers carry the sizes, as those of `archive_file` do. */
export function unzip(archive: Buffer, directory: string): readonly string[] {
  const names: string[] = [];
  let at = 0;
  while (archive.readUInt32LE(at) === 0x04034b50) {
    const packed = archive.readUInt32LE(at + 18);
    const nameLength = archive.readUInt16LE(at + 26);
    const begin = at + 30 + nameLength + archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 30, at + 30 + nameLength);
    const content = archive.subarray(begin, begin + packed);
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, archive.readUInt16LE(at + 8) === 0 ? content : inflateRawSync(content));
    names.push(name);
    at = begin + packed;
  }
  return names;
}
