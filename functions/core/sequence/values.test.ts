import fc from 'fast-check';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatDecimal, parseDecimal } from './decimal.ts';
import { addAll, fromBitmap, isExactly, toBitmap, type NumberSet } from './numbers.ts';
import { compareText } from './order.ts';
import { locate, parsePointer } from './pointer.ts';

describe('decimals', () => {
  const normal: readonly (readonly [string, string | null])[] = [
    ['0', '0'],
    ['-0.000', '0'],
    ['0e999999999999', '0'],
    ['1.50', '1.5'],
    ['-12.340e1', '-123.4'],
    ['1E-38', '0.00000000000000000000000000000000000001'],
    ['1e-39', null],
    ['9e38', '900000000000000000000000000000000000000'],
    ['1e39', null],
    ['0.1e40', null],
    ['0.1e39', '100000000000000000000000000000000000000'],
    ['1e999999999999999999999', null],
    ['1e-999999999999999999999', null],
    ['10000000000000000000000000000000000000000000', null],
    ['123456789012345678901234567890.12345678901234567890', '123456789012345678901234567890.1234567890123456789'],
    ['"1"', null],
  ];
  for (const [source, expected] of normal) {
    it(`${source} is ${expected ?? 'skipped'}`, () => {
      const value = parseDecimal(source);
      assert.equal(value === null ? null : formatDecimal(value), expected);
    });
  }

  it('reads every double as what it prints', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const value = parseDecimal(JSON.stringify(number));
        if (value !== null) assert.equal(Number(formatDecimal(value)), number + 0);
        else assert.ok(Math.abs(number) >= 1e39 || Math.abs(number) < 1e-20);
      }),
    );
  });

  it('sums like integers', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }), fc.nat({ max: 30 }), (n, scale) => {
        const value = parseDecimal(`${n}e-${scale}`);
        if (value !== null) assert.equal(value, n * 10n ** BigInt(38 - scale));
      }),
    );
  });
});

describe('the set of numbers', () => {
  const numbers = fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 5000 })));
  const build = (list: readonly number[]) => list.reduce<NumberSet>((set, n) => addAll(set, [n]), []);

  it('has one form for each set, whatever the order', () => {
    fc.assert(
      fc.property(numbers, (list) => {
        const set = build(list);
        assert.deepEqual(build([...list].sort((a, b) => b - a)), set);
        assert.deepEqual(addAll(build(list.slice(0, 3)), list.slice(2)), set);
        const members: number[] = [];
        for (let i = 0; i < set.length; i += 2) for (let n = set[i]!; n <= set[i + 1]!; n++) members.push(n);
        assert.deepEqual(
          members,
          [...new Set(list)].sort((a, b) => a - b),
        );
        for (let i = 2; i < set.length; i += 2) assert.ok(set[i]! > set[i - 1]! + 1);
      }),
    );
  });

  it('survives as a bitmap', () => {
    fc.assert(fc.property(numbers, (list) => assert.deepEqual(fromBitmap(toBitmap(build(list))), build(list))));
  });

  it('knows 1..n', () => {
    assert.ok(isExactly(build([2, 1, 3]), 3));
    assert.ok(!isExactly(build([1, 3]), 3));
    assert.ok(!isExactly(build([2, 3]), 3));
    assert.ok(!isExactly([], 0));
  });
});

describe('the order of texts', () => {
  it('is that of their UTF-8 bytes', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\uffee', '\ue000', '😀', '𐀀'), maxLength: 4 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        assert.equal(Math.sign(compareText(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });
});

describe('JSON pointers', () => {
  const at = (json: string, pointer: string) => locate(json, parsePointer(pointer));

  it('cut out the source text', () => {
    const json = ' { "a\\u0062" : [ 1.50 , {"x/y":"}\\"]" , "~":-0e1}, [[]] ] , "a":null,"n":{"a":true} } ';
    assert.equal(at(json, '/ab/0'), '1.50');
    assert.equal(at(json, '/ab/1/x~1y'), '"}\\"]"');
    assert.equal(at(json, '/ab/1/~0'), '-0e1');
    assert.equal(at(json, '/ab/2'), '[[]]');
    assert.equal(at(json, '/ab/3'), null);
    assert.equal(at(json, '/ab/-'), null);
    assert.equal(at(json, '/ab/01'), null);
    assert.equal(at(json, '/a'), 'null');
    assert.equal(at(json, '/a/b'), null);
    assert.equal(at(json, '/n/a'), 'true');
    assert.equal(at('7', '/a'), null);
    assert.equal(at('{"a":1,"a":2}', '/a'), '2');
  });

  it('find what JSON.parse finds', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(undefined, 1), (value, indent) => {
        const json = JSON.stringify(value, null, indent);
        if (typeof value !== 'object' || value === null) return;
        for (const [name, member] of Object.entries(value)) {
          if (name === '__proto__') continue;
          const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
          assert.deepEqual(JSON.parse(at(json, pointer)!), JSON.parse(JSON.stringify(member)));
        }
      }),
    );
  });

  it('are refused without their slash', () => {
    assert.throws(() => parsePointer('amount'), /JSON pointer/);
  });
});
