import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonFile } from './json-file.ts';

const file = (text: string) => new JsonFile('joins/a/join.json', text);

test('members are found by line, those of a member below it', () => {
  const text = '{\n  "topic": "key",\n  "source": {\n    "table": "t",\n    "key": 5\n  }\n}\n';
  assert.equal(file(text).where('topic'), 'joins/a/join.json:2: ');
  assert.equal(file(text).where('source.key'), 'joins/a/join.json:5: ');
  assert.equal(file(text).where('source.time'), 'joins/a/join.json:3: ');
  assert.equal(file(text).where('wait'), 'joins/a/join.json:1: ');
});

test('what is no JSON object is told with its line', () => {
  assert.throws(() => file('{\n  "topic": "a",\n}\n').object(), /^Error: joins\/a\/join\.json:3: /);
  assert.throws(() => file('{\n  "topic": "a"\n').object(), /^Error: joins\/a\/join\.json:[23]: /);
  assert.throws(() => file('{\n  "topic": a\n}').object(), /^Error: joins\/a\/join\.json:2: /);
  for (const text of ['[]', 'null', '5'])
    assert.throws(() => file(text).object(), /join\.json:1: expected a JSON object/);
  assert.deepEqual(file('{"topic": "a"}').object(), { topic: 'a' });
});
