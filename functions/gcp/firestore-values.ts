import type { protos } from '@google-cloud/firestore-api';
import type { Document, Value } from '../ports.ts';

type Proto = protos.google.firestore.v1.IValue;
export type Fields = Readonly<Record<string, Proto>>;

/** TTL policies look at timestamps only, so this one field, microseconds, is stored as one; everything else as it is. */
const TTL_FIELD = 'expire_at';

/** A document as Firestore takes it. @throws TypeError for undefined */
export function toFields(document: Document): Record<string, Proto> {
  const fields = toMap(document);
  const ttl = document[TTL_FIELD];
  if (typeof ttl === 'number') {
    const seconds = Math.floor(ttl / 1e6);
    fields[TTL_FIELD] = { timestampValue: { seconds, nanos: (ttl - seconds * 1e6) * 1e3 } };
  }
  return fields;
}

/** @throws RangeError for a kind of value that nothing here stores: somebody else wrote the document */
export function fromFields(fields: Fields): Document {
  const document: Record<string, Value> = {};
  for (const name in fields) document[name] = fromValue(fields[name]!);
  return document;
}

function toMap(values: Readonly<Record<string, Value>>): Record<string, Proto> {
  const fields: Record<string, Proto> = {};
  for (const name in values) fields[name] = toValue(values[name]!);
  return fields;
}

function toValue(value: Value): Proto {
  if (value === null) return { nullValue: 'NULL_VALUE' };
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'boolean':
      return { booleanValue: value };
    case 'number':
      return Number.isSafeInteger(value) ? { integerValue: value } : { doubleValue: value };
    case 'object':
      if (value instanceof Uint8Array) return { bytesValue: value };
      if (isList(value)) return { arrayValue: { values: value.map(toValue) } };
      return { mapValue: { fields: toMap(value) } };
    default:
      throw new TypeError(`Firestore cannot hold ${typeof value}`);
  }
}

/** `Array.isArray` does not know lists that are read only. */
function isList(value: object): value is readonly Value[] {
  return Array.isArray(value);
}

function fromValue(proto: Proto): Value {
  // The name of the member that is set comes with every value.
  switch ((proto as { valueType?: keyof Proto }).valueType) {
    case 'nullValue':
      return null;
    case 'stringValue':
      return proto.stringValue!;
    case 'booleanValue':
      return proto.booleanValue!;
    case 'integerValue':
      return Number(proto.integerValue);
    case 'doubleValue':
      return proto.doubleValue!;
    case 'bytesValue':
      return proto.bytesValue as Uint8Array;
    case 'timestampValue':
      return Number(proto.timestampValue!.seconds) * 1e6 + Math.floor((proto.timestampValue!.nanos ?? 0) / 1e3);
    case 'arrayValue':
      return (proto.arrayValue!.values ?? []).map(fromValue);
    case 'mapValue':
      return fromFields(proto.mapValue!.fields ?? {});
    default:
      throw new RangeError(`Firestore holds a value that is none of ours: ${Object.keys(proto).join(', ')}`);
  }
}
