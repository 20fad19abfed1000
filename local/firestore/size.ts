import { bytes, relative } from './paths.ts';
import type { Fields, Value } from './wire.ts';

/** Storage sizes by the rules that Google publishes ("Storage size calculations"), in bytes. */

const textSize = (text: string): number => bytes(text) + 1;

/** Each collection and document id as text, and 16 bytes. */
export function nameSize(name: string): number {
  return relative(name)
    .split('/')
    .reduce((sum, id) => sum + textSize(id), 16);
}

function fieldsSize(fields: Fields): number {
  let size = 32;
  for (const name of Object.keys(fields)) size += textSize(name) + valueSize(fields[name]!);
  return size;
}

function valueSize(value: Value): number {
  switch (value.valueType) {
    case 'nullValue':
    case 'booleanValue':
      return 1;
    case 'integerValue':
    case 'doubleValue':
    case 'timestampValue':
      return 8;
    case 'geoPointValue':
      return 16;
    case 'stringValue':
      return textSize(value.stringValue);
    case 'bytesValue':
      return value.bytesValue.length;
    case 'referenceValue':
      return nameSize(value.referenceValue);
    case 'arrayValue':
      return value.arrayValue.values.reduce((sum, member) => sum + valueSize(member), 0);
    case 'mapValue':
      // "Calculated the same way as document size", without a name.
      return fieldsSize(value.mapValue.fields);
  }
}

export const documentSize = (name: string, fields: Fields): number => nameSize(name) + fieldsSize(fields);
