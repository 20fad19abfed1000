import fc from 'fast-check';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentId, identityOf, keyAttributes, shardOf, summaryId } from './ids.ts';

const odd = [
  '.',
  '..',
  '__x__',
  '/',
  'a/b',
  '~',
  '%7E',
  '%',
  ' a',
  'a ',
  'é',
  'e\u0301',
  '\u0000',
  '😀',
  'x'.repeat(1500),
];
const keys = fc.oneof(
  fc.constantFrom(...odd),
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.string({ unit: 'binary', minLength: 1 }),
);

describe('document ids', () => {
  it('are legal for every key and different for different keys', () => {
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        const id = documentId(a);
        assert.match(id, /^[0-9a-f]{4}-[A-Za-z0-9\-_.!~*'()%]+$/);
        assert.ok(id.length <= 1500);
        assert.equal(id === documentId(b), a === b);
      }),
    );
    assert.equal(new Set(odd.map(documentId)).size, odd.length);
  });

  it('are readable where possible, and spread', () => {
    assert.match(documentId('order_001'), /^[0-9a-f]{4}-order_001$/);
    const prefixes = new Set(Array.from({ length: 100 }, (_, i) => documentId(`order_${i}`).slice(0, 2)));
    assert.ok(prefixes.size > 50);
  });

  it('never change: stored states are found by them', () => {
    assert.equal(documentId('order_001'), 'bcd1-order_001');
    assert.match(documentId('长'.repeat(300)), /^[0-9a-f]{4}-~[0-9a-f]{64}$/);
    assert.equal(shardOf('order_001', 16), 6);
    const { id, check } = identityOf({ eventId: 'e-1', eventStatus: 'started', eventTime: 1_704_448_800_000_000 });
    assert.equal(id.toString('hex'), '3efc948ea75fc09920d005acfe6f0429');
    assert.equal(check, 3838428805);
    assert.equal(summaryId('order_001', 1_704_448_800_000_000, 1), '38513517afd5cb5e80e536f1a5d312f5');
  });
});

describe('attributes', () => {
  it('carry the key, or its hash where Pub/Sub would refuse it', () => {
    assert.deepEqual(keyAttributes('é'.repeat(512)), { unique_key: 'é'.repeat(512) });
    const { unique_key_sha256: hash, ...rest } = keyAttributes('é'.repeat(513));
    assert.match(hash!, /^[0-9a-f]{64}$/);
    assert.deepEqual(rest, {});
  });
});
