import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Document } from '../ports.ts';
import { fromFields, toFields, type Fields } from './firestore-values.ts';

/** What the protocol makes of an encoded value: the name of its kind beside it, integers as text. */
function overTheWire(fields: object): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, answer(value as object)]));
}

function answer(value: object): object {
  const [kind, content] = Object.entries(value)[0] as [string, never];
  const { values, fields } = Object(content) as { values: object[]; fields: object };
  if (kind === 'arrayValue') return { valueType: kind, arrayValue: { values: values.map(answer) } };
  if (kind === 'mapValue') return { valueType: kind, mapValue: { fields: overTheWire(fields) } };
  if (kind === 'integerValue') return { valueType: kind, integerValue: String(content) };
  return { valueType: kind, [kind]: content };
}

/** Firestore refuses names between double underscores. */
const name = fc.string().filter((text) => !/^__.*__$/.test(text));
const leaf = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.string(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true }),
  fc.uint8Array({ maxLength: 20 }),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie('value')), fc.dictionary(name, tie('value'))),
}));

test('any document comes back as it was, its expiry to the microsecond', () => {
  fc.assert(
    fc.property(fc.dictionary(name, value), fc.integer({ min: -1e15, max: 4e15 }), (fields, micros) => {
      const document = { ...fields, expire_at: micros } as Document;
      const stored = toFields(document);
      assert.ok('timestampValue' in stored['expire_at']!, 'TTL policies look at nothing else');
      assert.deepEqual({ ...fromFields(overTheWire(stored)) }, normal(document));
    }),
  );
});

test('what no document holds is refused, in both directions', () => {
  assert.throws(() => toFields({ a: [{ b: undefined }] } as never), TypeError);
  assert.throws(() => fromFields({ a: { valueType: 'geoPointValue', geoPointValue: {} } as never }), RangeError);
});

/** An integer has no negative zero. */
function normal(document: unknown): unknown {
  if (Object.is(document, -0)) return 0;
  if (Array.isArray(document)) return document.map(normal);
  if (document === null || typeof document !== 'object' || document instanceof Uint8Array) return document;
  return Object.fromEntries(Object.entries(document).map(([name, one]) => [name, normal(one)]));
}
