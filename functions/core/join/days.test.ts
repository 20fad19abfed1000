import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dayPredicate, parts, ranges } from './days.ts';

const days = fc.array(fc.integer({ min: -4000, max: 25_000 }), { maxLength: 60 });

test('ranges cover exactly the days, sorted and apart', () => {
  fc.assert(
    fc.property(days, (list) => {
      const found = ranges(list).flatMap(({ from, to }) => {
        assert.ok(from < to);
        return Array.from({ length: (to - from) / 86_400e6 }, (_, i) => from / 86_400e6 + i);
      });
      assert.deepEqual(
        found,
        [...new Set(list)].sort((a, b) => a - b),
      );
      for (const [i, range] of ranges(list).entries()) if (i > 0) assert.ok(range.from > ranges(list)[i - 1]!.to);
    }),
  );
});

test('the predicate is made of constants', () => {
  assert.equal(
    dayPredicate('t', { days: [20_000, 20_001, 20_005], untimed: true }),
    "((t >= TIMESTAMP '2024-10-04 00:00:00+00' AND t < TIMESTAMP '2024-10-06 00:00:00+00')" +
      " OR (t >= TIMESTAMP '2024-10-09 00:00:00+00' AND t < TIMESTAMP '2024-10-10 00:00:00+00') OR t IS NULL)",
  );
  assert.equal(dayPredicate('t', { days: [], untimed: false }), 'FALSE');
});

test('parts hold every day once, at most so many, and the untimed rows once', () => {
  fc.assert(
    fc.property(days, fc.boolean(), fc.integer({ min: 1, max: 20 }), (list, untimed, size) => {
      const distinct = [...new Set(list)].sort((a, b) => a - b);
      const cut = parts({ days: distinct, untimed }, size);
      assert.deepEqual(
        cut.flatMap((part) => part.days),
        distinct,
      );
      assert.ok(cut.every((part) => part.days.length <= size));
      assert.equal(cut.filter((part) => part.untimed).length, untimed ? 1 : 0);
    }),
  );
});
