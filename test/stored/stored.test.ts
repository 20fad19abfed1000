import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CURRENT, fixtureNames, hashOf, knownHashes, readFixture, SCENARIOS, worldOf } from './fixtures.ts';

const names = fixtureNames();

for (const name of names) {
  const scenario = SCENARIOS[name.split('/')[1]!];
  describe(name, () => {
    for (const [ending, finish] of Object.entries(scenario?.endings ?? {})) {
      test(ending, async () => finish(await worldOf(readFixture(name))));
    }
  });
}

test('a fixture is never changed: such documents exist', () => {
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, hashOf(name)])), Object.fromEntries(knownHashes()));
});

test('every state has a fixture of today, and every fixture an end (`node test/stored/write.ts` adds what is missing)', () => {
  const today = names.filter((name) => name.startsWith(`${CURRENT}/`)).map((name) => name.split('/')[1]);
  assert.deepEqual(today, Object.keys(SCENARIOS).sort());
  for (const name of names) assert.ok(SCENARIOS[name.split('/')[1]!] !== undefined, name);
});
