import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { messageCases } from '../../test/cases/messages.ts';
import { InputError } from '../demo/options.ts';
import { readCases } from './format.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'codaflow-cases-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = path.join(folder, 'cases.ndjson');
const read = (...lines: unknown[]) => {
  writeFileSync(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  return readCases(file);
};

const good = { id: 'A', input: { kind: 'message', data_text: 'x' }, expected: { outcome: 'dead_letter' } };

test('cases that are messages are read, others are counted', async () => {
  const { cases, others } = await read(good, '', { ...good, input: { kind: 'recipe' } });
  assert.deepEqual([cases.length, others], [1, 1]);
  assert.deepEqual(cases[0]!.messages, [{ kind: 'message', data: Buffer.from('x'), attributes: {} }]);
});

test('the messages that the tests use can be run as cases, every one', async () => {
  const { cases, others } = await readCases(path.resolve(import.meta.dirname, '../../test/cases/messages.ndjson'));
  const sent = cases.flatMap(({ messages }) => messages);
  assert.equal(others, 0);
  assert.deepEqual(
    sent.map((one) => one.kind === 'message' && one.data),
    messageCases().flatMap(({ messages }) => messages.map(({ data }) => data)),
  );
});

test('a malformed case is named by file, line and member', async () => {
  const mistake = async (line: unknown, message: RegExp): Promise<void> => {
    await assert.rejects(read(good, '', line), (error) => {
      assert.ok(error instanceof InputError);
      assert.ok(error.message.startsWith(`${file}, line 3: `), error.message);
      assert.match(error.message, message);
      return true;
    });
  };
  await mistake('{broken', /no JSON object/);
  await mistake({}, /"id" is missing/);
  await mistake({ ...good, input: undefined }, /"input" is missing/);
  await mistake({ ...good, input: {} }, /"input.kind" is missing/);
  await mistake({ ...good, expected: 'accept' }, /"expected" is missing or is no object/);
  await mistake({ ...good, input: { kind: 'messages', messages: 1 } }, /"input.messages" is no array/);
  await assert.rejects(read(''), /is empty/);
});
