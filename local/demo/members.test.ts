import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { members } from './members.ts';

test('members finds the source text of every value, whatever it holds', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 2), (object, indent) => {
      const json = JSON.stringify(object, null, indent);
      const found = members(json).map(({ name, start, end }) => [name, JSON.parse(json.slice(start, end)) as unknown]);
      assert.deepEqual(found, Object.entries(JSON.parse(json) as object));
    }),
  );
});

test('repeated members are all found, and numbers keep their digits', () => {
  const json = '{"a": 9007199254740993 , "a":[{"b":"}"}], "c\\u0041":1.0}';
  assert.deepEqual(
    members(json).map(({ name, start, end }) => [name, json.slice(start, end)]),
    [
      ['a', '9007199254740993'],
      ['a', '[{"b":"}"}]'],
      ['cA', '1.0'],
    ],
  );
});
