import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cutIntoWaves } from './chunks.ts';

describe('chunks', () => {
  test('few keys and items each, no key twice in a wave, the items of a key in order', () => {
    const items = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.nat()), { maxLength: 60 });
    const limits = fc.record({ keys: fc.integer({ min: 1, max: 4 }), events: fc.integer({ min: 1, max: 7 }) });
    fc.assert(
      fc.property(items, limits, (list, { keys, events }) => {
        const waves = cutIntoWaves(list, ([key]) => key, { keys, events });
        for (const wave of waves) {
          const seen: string[] = [];
          for (const chunk of wave) {
            const inChunk = new Set(chunk.map(([key]) => key));
            assert.ok(chunk.length > 0 && chunk.length <= events && inChunk.size <= keys);
            seen.push(...inChunk);
          }
          assert.equal(new Set(seen).size, seen.length);
        }
        const byKey = (all: [string, number][]) => Object.fromEntries(Map.groupBy(all, ([key]) => key));
        assert.deepEqual(byKey(waves.flat(2)), byKey(list));
      }),
    );
  });
});
