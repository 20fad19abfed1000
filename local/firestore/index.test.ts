import fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Collection, type StoredDocument } from './collection.ts';
import { execute } from './execute.ts';
import { compileQuery } from './query.ts';
import { SortedList } from './sorted.ts';
import { canonical, compare, compareText, fromMicros } from './values.ts';
import type { Fields, StructuredQuery, Value } from './wire.ts';

const PARENT = 'projects/p/databases/d/documents';

const scalar: fc.Arbitrary<Value> = fc.oneof(
  fc.constant<Value>({ valueType: 'nullValue', nullValue: 'NULL_VALUE' }),
  fc.integer({ min: -3, max: 3 }).map((n): Value => ({ valueType: 'integerValue', integerValue: String(n) })),
  fc.constantFrom(-0, 0.5, 2, NaN, 1e300).map((n): Value => ({ valueType: 'doubleValue', doubleValue: n })),
  fc
    .constantFrom('9007199254740993', '9007199254740992')
    .map((n): Value => ({ valueType: 'integerValue', integerValue: n })),
  fc.nat(3).map((n): Value => ({ valueType: 'timestampValue', timestampValue: fromMicros(n) })),
  fc.string({ maxLength: 2, unit: 'binary' }).map((s): Value => ({ valueType: 'stringValue', stringValue: s })),
);
const value = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 2 }).map((values): Value => ({ valueType: 'arrayValue', arrayValue: { values } })),
  fc
    .dictionary(fc.constantFrom('x', 'y'), scalar)
    .map((fields): Value => ({ valueType: 'mapValue', mapValue: { fields } })),
);

test('the order of values is total, and canonical text is the same for equal values only', () => {
  fc.assert(
    fc.property(value, value, value, (a, b, c) => {
      assert.equal(Math.sign(compare(a, b)), -Math.sign(compare(b, a)) + 0);
      if (compare(a, b) <= 0 && compare(b, c) <= 0) assert.ok(compare(a, c) <= 0);
      assert.equal(compare(a, b) === 0, canonical(a) === canonical(b));
    }),
    { numRuns: 1000 },
  );
});

test('text is ordered as its UTF-8 bytes', () => {
  assert.ok(compareText('\u{ff5e}', '\u{1f600}') < 0 && compareText('\u{1f600}', '\u{ff5e}') > 0);
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.equal(Math.sign(compareText(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test('a sorted list equals a sorted array through any additions and removals', () => {
  const operations = fc.array(fc.tuple(fc.boolean(), fc.nat(2000)), { minLength: 1500, maxLength: 3000 });
  fc.assert(
    fc.property(operations, fc.nat(2000), (steps, from) => {
      const list = new SortedList<number>((a, b) => a - b);
      const set = new Set<number>();
      for (const [add, n] of steps) {
        if (add || n % 3 === 0) {
          if (!set.has(n)) list.add(n);
          set.add(n);
        } else {
          list.remove(n);
          set.delete(n);
        }
      }
      const sorted = [...set].sort((a, b) => a - b);
      assert.deepEqual(
        [...list.from((n) => n < from)],
        sorted.filter((n) => n >= from),
      );
      assert.equal(list.isEmpty, set.size === 0);
    }),
    { numRuns: 20 },
  );
});

test('a sorted list that is emptied chunk by chunk is empty and can be filled again', () => {
  const numbers = Array.from({ length: 2000 }, (_, i) => i);
  const list = new SortedList<number>((a, b) => a - b, numbers);
  for (const n of numbers.slice(0, 1500)) list.remove(n);
  assert.deepEqual([...list.from(() => false)], numbers.slice(1500));
  for (const n of numbers) list.remove(n);
  assert.ok(list.isEmpty);
  list.add(7);
  assert.deepEqual([...list.from(() => false)], [7]);
});

const field = fc.constantFrom('a', 'b').map((fieldPath) => ({ fieldPath }));
const condition = fc.record({
  field,
  op: fc.constantFrom('EQUAL', 'LESS_THAN', 'LESS_THAN_OR_EQUAL', 'GREATER_THAN', 'GREATER_THAN_OR_EQUAL', 'NOT_EQUAL'),
  value: scalar,
});
const query: fc.Arbitrary<StructuredQuery> = fc
  .record({
    conditions: fc.array(condition, { maxLength: 3 }),
    op: fc.constantFrom('AND', 'AND', 'OR'),
    orderBy: fc.uniqueArray(fc.record({ field, direction: fc.constantFrom('ASCENDING', 'DESCENDING') }), {
      selector: (order) => order.field.fieldPath,
      maxLength: 2,
    }),
    cursor: fc.option(fc.record({ values: fc.tuple(scalar), before: fc.boolean() })),
    end: fc.option(fc.record({ values: fc.tuple(scalar), before: fc.boolean() })),
    limit: fc.option(fc.record({ value: fc.nat(20) })),
    offset: fc.nat(3),
  })
  .map(({ conditions, op, orderBy, cursor, end, limit, offset }) => ({
    select: null,
    from: [{ collectionId: 'c', allDescendants: false }],
    where: conditions.length
      ? { compositeFilter: { op, filters: conditions.map((fieldFilter) => ({ fieldFilter })) } }
      : null,
    orderBy,
    startAt: orderBy.length ? cursor : null,
    endAt: orderBy.length ? end : null,
    offset,
    limit,
    findNearest: null,
  }));

const fields = fc.record({ a: scalar, b: scalar }, { requiredKeys: [] }) as fc.Arbitrary<Fields>;
const change = fc.record({ id: fc.nat(120), fields: fc.option(fields, { freq: 8 }) });

test('a query through an index gives what sorting gives, while documents come, change and go', () => {
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 150, maxLength: 200 }),
      fc.array(query, { minLength: 1, maxLength: 10 }),
      fc.array(change, { maxLength: 60 }),
      (before, queries, later) => {
        const collection = new Collection();
        let version = 0;
        const apply = ({ id, fields }: { id: number; fields: Fields | null }) => {
          const name = `${PARENT}/c/d${id}`;
          const time = fromMicros(++version);
          const after: StoredDocument | undefined = fields
            ? { name, fields, createTime: time, updateTime: time, version }
            : undefined;
          collection.replace(collection.documents.get(name), after);
        };
        const check = () => {
          for (const one of queries) {
            const compiled = compileQuery(PARENT, one);
            const sorted = execute(compiled, [...collection.documents.values()]);
            assert.deepEqual(execute(compiled, collection), sorted);
          }
        };
        before.forEach(apply);
        check();
        later.forEach(apply);
        check();
      },
    ),
    { numRuns: 100 },
  );
});
