import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HELP, parseOptions, UsageError } from './options.ts';

test('options', () => {
  const args =
    '--once --data a.gz --reference - --completion a,b --shuffle 7 --repeat 0.02 --rate 10 --chaos 0 --export out --json --state s --again --as-recorded --table crm=c.ndjson --set EVENT_FIELDS=unique_key=id,event_status=status --set PROBE_PRIVATE=true';
  assert.deepEqual(parseOptions(args.split(' ')), {
    once: true,
    data: 'a.gz',
    reference: '-',
    completion: ['a', 'b'],
    asRecorded: true,
    shuffle: 7,
    repeat: 0.02,
    rate: 10,
    chaos: 0,
    exportDir: 'out',
    json: true,
    stateDir: 's',
    again: true,
    tables: { crm: 'c.ndjson' },
    set: { EVENT_FIELDS: 'unique_key=id,event_status=status', PROBE_PRIVATE: 'true' },
  });
  for (const option of args.match(/--[a-z-]+/g)!) assert.match(HELP, new RegExp(`${option} `));
  assert.equal(parseOptions(['--help']), 'help');
});

test('mistakes are named', () => {
  const mistake = (line: string, message: RegExp): void => {
    assert.throws(
      () => parseOptions(line.split(' ')),
      (error) => error instanceof UsageError && message.test(error.message),
    );
  };
  mistake('--frobnicate', /--frobnicate/);
  mistake('extra', /extra/);
  mistake('--shuffle x', /--shuffle takes a whole number, got "x"/);
  mistake('--repeat 2', /--repeat takes a share/);
  mistake('--rate 0', /--rate/);
  mistake('--completion a,,b', /--completion/);
  mistake('--set EVENT_FIELDS', /--set EVENT_FIELDS: it lacks its value/);
  mistake('--set EVENT_FIELDS=key=id', /--set EVENT_FIELDS: expected member=name pairs; .*, got "key=id"/);
  mistake('--set COMPLETION_STATUSES=a', /--completion a,b/);
  mistake('--set DATASET=a', /--set takes NAME=VALUE with one of EVENT_FIELDS, /);
  mistake('--table crm', /--table takes NAME=FILE, got "crm"/);
  mistake('--again', /--again needs --state/);
  mistake('--data - --reference -', /only one/);
});
