import { invalid, unimplemented } from './errors.ts';
import { checkFieldName } from './paths.ts';
import { documentSize } from './size.ts';
import type { Fields, Timestamp, Value } from './wire.ts';

const MAX_DOCUMENT_BYTES = 1_048_576;
const MAX_NESTING = 20;
/** 0001-01-01 and the end of 9999. */
const MIN_SECONDS = -62_135_596_800;
const MAX_SECONDS = 253_402_300_799;

/** Returns the size in bytes; throws INVALID_ARGUMENT above 1 MiB. */
export function checkDocumentSize(name: string, fields: Fields): number {
  const size = documentSize(name, fields);
  if (size > MAX_DOCUMENT_BYTES) {
    throw invalid(
      `Document "${name}" cannot be written because its size (${size} bytes) exceeds the maximum allowed size of 1,048,576 bytes.`,
    );
  }
  return size;
}

/** The fields as they are stored: checked, timestamps in microseconds, bytes copied out of the request. */
export function storable(fields: Fields, depth = 0): Fields {
  const out: Record<string, Value> = {};
  for (const name of Object.keys(fields)) {
    if (name === '__type__') throw unimplemented('A vector value');
    checkFieldName(name);
    out[name] = storableValue(fields[name]!, depth, false);
  }
  return out;
}

/** One value as it is stored. `depth` counts the maps and arrays around it. */
export function storableValue(value: Value, depth = 0, inArray = false): Value {
  switch (value.valueType) {
    case 'timestampValue':
      return { valueType: 'timestampValue', timestampValue: storableTime(value.timestampValue) };
    case 'bytesValue':
      // A slice would keep the whole request in memory.
      return { valueType: 'bytesValue', bytesValue: Buffer.from(value.bytesValue) };
    case 'geoPointValue': {
      const { latitude, longitude } = value.geoPointValue;
      if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) throw invalid('Geo point out of range.');
      return value;
    }
    case 'arrayValue': {
      if (inArray) throw invalid('Cannot convert an array value in an array value.');
      if (depth >= MAX_NESTING) throw invalid(`Maps and arrays are nested deeper than ${MAX_NESTING}.`);
      const values = value.arrayValue.values.map((member) => storableValue(member, depth + 1, true));
      return { valueType: 'arrayValue', arrayValue: { values } };
    }
    case 'mapValue':
      if (depth >= MAX_NESTING) throw invalid(`Maps and arrays are nested deeper than ${MAX_NESTING}.`);
      return { valueType: 'mapValue', mapValue: { fields: storable(value.mapValue.fields, depth + 1) } };
    case 'nullValue':
    case 'booleanValue':
    case 'integerValue':
    case 'doubleValue':
    case 'stringValue':
    case 'referenceValue':
      return value;
    default:
      throw invalid('A value has no type, or one that documents cannot hold.');
  }
}

function storableTime(time: Timestamp): Timestamp {
  const seconds = Number(time.seconds);
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS || time.nanos < 0 || time.nanos > 999_999_999) {
    throw invalid('Timestamp out of range.');
  }
  return { seconds: time.seconds, nanos: Math.floor(time.nanos / 1000) * 1000 };
}
