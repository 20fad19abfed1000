import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readObjects } from './input.ts';
import { InputError } from './options.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'codaflow-input-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const file = path.join(folder, 'events.ndjson');
const read = async (content: string | Buffer) => {
  writeFileSync(file, content);
  return readObjects(file, 'events');
};
const mistake = (content: string | Buffer, message: RegExp) =>
  assert.rejects(read(content), (error) => error instanceof InputError && message.test(error.message) && error.message.includes(file) && !error.message.includes('\n')); // prettier-ignore

test('lines keep their numbers, and single broken ones stay', async () => {
  assert.deepEqual(await read('\uFEFF{"a":1}\r\n\n{broken\n'), [
    { text: '{"a":1}', number: 1 },
    { text: '{broken', number: 3 },
  ]);
  assert.deepEqual(await read(gzipSync('{}')), [{ text: '{}', number: 1 }]);
});

test('a file without any object is refused with its name, the line and what would help', async () => {
  await mistake('', /is empty/);
  await mistake('\n\n', /is empty/);
  await mistake('unique_key,event_status\nk,done\n', /line 1: "unique_key,event_status" is no JSON object.*CSV/);
  await mistake('\n[{"a":1},{"a":2}]', /line 2: .*jq -c '\.\[\]'/);
  await mistake('{\n  "a": 1\n}\n', /line 1: "\{".*jq -c \. /);
  await mistake('1\n2\n', /line 1: "1" is no JSON object/);
  await mistake(Buffer.from([0x7b, 0x7d, 10, 0xff]), /line 2: not UTF-8/);
  await mistake(Buffer.from([0x1f, 0x8b, 8]), /cannot read .*gzip/);
  await assert.rejects(readObjects(folder, 'events'), /cannot read .*: it is a folder/);
  await assert.rejects(readObjects(path.join(folder, 'none'), 'events'), /cannot read .*: there is no such file/);
});
