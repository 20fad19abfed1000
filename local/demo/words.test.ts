import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { columns, counted, size, wrap } from './words.ts';

test('numbers', () => {
  assert.equal(counted(1, 'message'), '1 message');
  assert.equal(counted(0, 'message'), '0 messages');
  assert.equal(counted(4889, 'key'), '4,889 keys');
  assert.deepEqual([0, 999, 1000, 1_582_328, 1.2e15].map(size), [
    '0 bytes',
    '999 bytes',
    '1.0 KB',
    '1.6 MB',
    '1200.0 TB',
  ]);
});

test('wrapped lines keep to the width and lose nothing', () => {
  assert.equal(wrap('aa bbbb cc dd', 12, '- '), '- aa bbbb cc\n  dd');
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 12, max: 40 }), (text, width) => {
      fc.pre(!text.includes('\n'));
      const lines = wrap(text, width, '> ').split('\n');
      assert.ok(lines.every((line) => line.length <= width));
      const bare = (from: string): string => from.replaceAll(' ', '');
      assert.equal(bare(lines.map((line) => line.slice(2)).join('')), bare(text));
    }),
  );
  assert.equal(wrap('x '.repeat(500), null), 'x '.repeat(500));
});

test('COLUMNS comes before the terminal, and a pipe has no width', () => {
  const before = process.env['COLUMNS'];
  try {
    delete process.env['COLUMNS'];
    assert.equal(columns({}), null);
    assert.equal(columns({ isTTY: true, columns: 132 }), 132);
    process.env['COLUMNS'] = '60';
    assert.equal(columns({ isTTY: true, columns: 132 }), 60);
  } finally {
    if (before === undefined) delete process.env['COLUMNS'];
    else process.env['COLUMNS'] = before;
  }
});
