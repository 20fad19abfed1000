import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { namesAt } from './fields.ts';
import { remember, remembered, type Remembered } from './folders.ts';
import { readInputs } from './inputs.ts';
import { InputError, parseOptions, type Options } from './options.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'codaflow-inputs-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, ...lines: object[]): string => {
  const whole = path.join(folder, name);
  writeFileSync(whole, lines.map((line) => JSON.stringify(line)).join('\n'));
  return whole;
};
const events = file('events.ndjson', { unique_key: 'k' });
const rows = file('rows.ndjson', { join_key: 'A', name: 'Ay' });
const state = path.join(folder, 'state');
const read = (before: Remembered | null, ...args: string[]) =>
  readInputs(parseOptions(['--state', state, ...args]) as Options, before, 0);

test('a state folder goes on with what it was begun with, and refuses anything else', async () => {
  const first = await read(null, '--data', events, '--reference', rows, '--completion', 'b,a');
  const { completion, reference, fields, hash, names } = first;
  const before: Remembered = { version: 1, completion, reference, fields, files: { [hash]: 3 } };
  const same = await read(before, '--data', events, '--reference', rows, '--completion', 'a,b');
  assert.deepEqual({ ...same, names }, first);
  assert.deepEqual({ ...(await read(before, '--data', events)), names }, first, 'what is left out is what it was');
  const alone = await read(before);
  assert.deepEqual(alone.lines, [], 'a folder of own events gets no flights');
  assert.equal(alone.title, `what is in ${state}`);
  await assert.rejects(read(before, '--completion', 'c'), InputError);
  const others = file('others.ndjson', { join_key: 'A', name: 'Bee' });
  await assert.rejects(read(before, '--reference', others), /was joined with other reference rows/);
});

test('a state folder keeps the names of the members until a run has others, and knows since when', async () => {
  const set = ['--set', 'EVENT_FIELDS=unique_key=id'];
  const first = await read(null, '--data', events, ...set);
  assert.equal(first.names('unique_key'), 'id');
  const before: Remembered = { version: 1, completion: ['a'], reference: [], fields: first.fields, files: {} };
  const kept = await read(before, '--data', events);
  assert.equal(kept.names('unique_key'), 'id');
  assert.deepEqual(kept.fields, first.fields);
  const changed = await readInputs(
    parseOptions(['--state', state, '--set', 'EVENT_FIELDS=']) as Options,
    { ...before, fields: first.fields },
    7,
  );
  const at = namesAt(changed.fields);
  assert.deepEqual(
    [6, 7].map((time) => at(time)('unique_key')),
    ['id', 'unique_key'],
  );
});

test('the flights are for a new folder, and for the one that has them', async () => {
  const flights = await read(null);
  assert.equal(flights.lines.length, 4889);
  const { completion, reference, hash } = flights;
  const again = await read({ version: 1, completion, reference, fields: flights.fields, files: { [hash]: 1 } });
  assert.deepEqual({ ...again, names: flights.names }, flights);
});

test('a folder of something else is no state', () => {
  mkdirSync(state);
  assert.equal(remembered(null), null);
  assert.equal(remembered(state), null);
  mkdirSync(path.join(state, 'bigquery'));
  assert.equal(remembered(state), null, 'a run that ended at its start');
  writeFileSync(path.join(state, 'letter.txt'), '');
  assert.throws(() => remembered(state), /the folder is not empty/);
  const what: Remembered = { version: 1, completion: ['a'], reference: [], files: {} };
  remember(state, what);
  assert.deepEqual(remembered(state), what);
  writeFileSync(path.join(state, 'codaflow.json'), '{"version":2}');
  assert.throws(() => remembered(state), InputError);
});
