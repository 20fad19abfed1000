import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { JsonError, MAX_DEPTH, scanArray, scanObject, unquote, type JsonMember } from './json.ts';

function members(text: string): readonly JsonMember[] {
  const found = scanObject(text);
  assert.ok(typeof found !== 'string');
  return found;
}

/** Whether JSON.parse and the scanner agree that this is JSON. */
function agree(text: string): void {
  let valid = true;
  try {
    JSON.parse(text);
  } catch {
    valid = false;
  }
  try {
    scanObject(text);
    assert.ok(valid, `taken, but not JSON: ${JSON.stringify(text)}`);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    assert.ok(!valid, `refused, but JSON: ${JSON.stringify(text)} (${error.message})`);
  }
}

describe('the JSON scanner', () => {
  test('takes what JSON.parse takes, in any layout', () => {
    const spaced = fc.tuple(fc.json(), fc.constantFrom('', ' ', '\n\t', '\r\n'));
    fc.assert(fc.property(spaced, ([json, space]) => agree(space + json + space)));
  });

  test('refuses what JSON.parse refuses: JSON with a few characters changed', () => {
    const parts = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      'u',
      '0',
      '-',
      '.',
      'e',
      'tru',
      ' ',
      '\u0001',
      '\ufeff',
      'x',
      '\\ud800',
      "'",
    );
    const edited = fc
      .tuple(fc.json(), fc.array(fc.tuple(fc.nat(), parts, fc.nat(3)), { maxLength: 3 }))
      .map(([json, edits]) =>
        edits.reduce((text, [at, part, cut]) => {
          const place = at % (text.length + 1);
          return text.slice(0, place) + part + text.slice(place + cut);
        }, json),
      );
    fc.assert(fc.property(edited, agree), { numRuns: 2000 });
    fc.assert(
      fc.property(
        fc.array(parts, { maxLength: 8 }).map((list) => list.join('')),
        agree,
      ),
      { numRuns: 3000 },
    );
  });

  test('keeps the source text of every member', () => {
    const member = fc.tuple(fc.string({ unit: 'grapheme' }), fc.json());
    const space = fc.constantFrom('', ' ', '\n');
    fc.assert(
      fc.property(fc.array(member), space, (list, s) => {
        const text = `${s}{${s}${list.map(([name, value]) => `${JSON.stringify(name)}${s}:${s}${value}`).join(`${s},${s}`)}${s}}${s}`;
        assert.deepEqual(
          members(text).map(({ name, source }) => [name, source]),
          list.map(([name, value]) => [name, value]),
        );
      }),
    );
  });

  test('keeps digits, order, repeated and dangerous names', () => {
    const text = '{"n":9007199254740993,"n":1e400,"2":1.0,"1":-0,"__proto__":{"isAdmin":true}}';
    assert.deepEqual(
      members(text).map(({ name, source }) => `${name}=${source}`),
      ['n=9007199254740993', 'n=1e400', '2=1.0', '1=-0', '__proto__={"isAdmin":true}'],
    );
    assert.equal(({} as { isAdmin?: boolean }).isAdmin, undefined);
  });

  test('tells the kind of what is not an object', () => {
    assert.deepEqual(
      ['[1]', '"{}"', '1', 'true', 'null'].map((text) => scanObject(text)),
      ['array', 'string', 'number', 'boolean', 'null'],
    );
  });

  test('finds halves of surrogate pairs, in names and values and at any depth', () => {
    const cases: [string, boolean][] = [
      ['"\\ud83d\\ude00"', false],
      ['"\\ud83d"', true],
      ['"\\ude00"', true],
      ['"\\ud83d\\ud83d\\ude00"', true],
      ['"\\ud83dx\\ude00"', true],
      ['"\\ud83d\\n\\ude00"', true],
      ['"😀"', false],
      ['[{"\\udc00":1}]', true],
      ['"\\\\ud83d"', false],
    ];
    for (const [value, expected] of cases) {
      assert.equal(members(`{"a":1,"b":${value},"c":"x"}`)[1]!.unpaired, expected, value);
    }
  });

  test('bounds the nesting without using the call stack', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    assert.equal(members(nested(MAX_DEPTH)).length, 1);
    for (const text of [nested(MAX_DEPTH + 1), '{"a":' + '['.repeat(1_000_000), '{"a":' + '{"a":'.repeat(500_000)]) {
      assert.throws(
        () => scanObject(text),
        (error) => error instanceof JsonError && error.reason === 'depth',
      );
    }
  });

  test('reads long texts in one go', () => {
    const long = 'x\\n'.repeat(1_000_000) + 'y'.repeat(5_000_000);
    assert.equal(members(`{"a":"${long}"}`)[0]!.source.length, long.length + 2);
  });

  test('decodes escapes', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => unquote(JSON.stringify(text)) === text));
  });

  test('cuts arrays into the source texts of their elements', () => {
    fc.assert(
      fc.property(fc.array(fc.json()), (list) => {
        const found = scanArray(` [ ${list.join(' , ')} ] `);
        assert.ok(typeof found !== 'string');
        assert.deepEqual(
          found.map(({ source }) => source),
          list,
        );
      }),
    );
    assert.equal(scanArray('[1, 2, 3]', 2).length, 2);
    assert.throws(() => scanArray('[1, 2, x]', 2), JsonError);
    assert.equal(scanArray('{}'), 'object');
    assert.throws(() => scanArray('[1,]'), JsonError);
  });
});
