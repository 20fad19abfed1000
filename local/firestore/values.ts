import type { Fields, Timestamp, Value } from './wire.ts';

/** Rank of a type in the order of all values; integers and doubles share one. */
const RANK: Record<Value['valueType'], number> = {
  nullValue: 0,
  booleanValue: 1,
  integerValue: 2,
  doubleValue: 2,
  timestampValue: 3,
  stringValue: 4,
  bytesValue: 5,
  referenceValue: 6,
  geoPointValue: 7,
  arrayValue: 8,
  mapValue: 9,
};

export const rank = (value: Value): number => RANK[value.valueType];
export const isNumber = (value: Value): boolean => rank(value) === 2;
export const isNaNValue = (value: Value): boolean =>
  value.valueType === 'doubleValue' && Number.isNaN(value.doubleValue);

export const toMicros = (time: Timestamp): number => Number(time.seconds) * 1e6 + Math.floor(time.nanos / 1000);
export function fromMicros(micros: number): Timestamp {
  const seconds = Math.floor(micros / 1e6);
  return { seconds: String(seconds), nanos: (micros - seconds * 1e6) * 1000 };
}

/** A number as JavaScript compares it exactly: integers beyond 2^53 as BigInt. */
function numeric(value: Value): number | bigint {
  if (value.valueType === 'doubleValue') return value.doubleValue;
  if (value.valueType !== 'integerValue') return NaN;
  const number = Number(value.integerValue);
  return Number.isSafeInteger(number) ? number : BigInt(value.integerValue);
}

function compareNumbers(a: Value, b: Value): number {
  const x = numeric(a);
  const y = numeric(b);
  if (x < y) return -1;
  if (x > y) return 1;
  // Equal, or at least one NaN, which sorts before every number.
  return Number(Number.isNaN(y)) - Number(Number.isNaN(x));
}

/** Order of the UTF-8 bytes. It differs from UTF-16 order only where surrogates meet U+E000 to U+FFFF. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const [surrogateX, surrogateY] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff];
    return surrogateX === surrogateY ? x - y : surrogateX ? 1 : -1;
  }
  return a.length - b.length;
}

/** Order of document names: segment by segment. */
export function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  const x = a.split('/');
  const y = b.split('/');
  return compareLists(x, y, compareText);
}

export function compareLists<T>(a: readonly T[], b: readonly T[], compare: (x: T, y: T) => number): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compare(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareMaps(a: Fields, b: Fields): number {
  const sorted = (fields: Fields) => Object.entries(fields).sort(([x], [y]) => compareText(x, y));
  return compareLists(sorted(a), sorted(b), ([x, v], [y, w]) => compareText(x, y) || compare(v, w));
}

/** Total order of values: by type first, then within the type. */
export function compare(a: Value, b: Value): number {
  const byType = rank(a) - rank(b);
  if (byType !== 0) return byType;
  if (isNumber(a)) return compareNumbers(a, b);
  if (a.valueType === 'booleanValue' && b.valueType === 'booleanValue') {
    return Number(a.booleanValue) - Number(b.booleanValue);
  }
  if (a.valueType === 'timestampValue' && b.valueType === 'timestampValue') {
    const bySecond = Number(a.timestampValue.seconds) - Number(b.timestampValue.seconds);
    return bySecond || a.timestampValue.nanos - b.timestampValue.nanos;
  }
  if (a.valueType === 'stringValue' && b.valueType === 'stringValue') return compareText(a.stringValue, b.stringValue);
  if (a.valueType === 'bytesValue' && b.valueType === 'bytesValue') return Buffer.compare(a.bytesValue, b.bytesValue);
  if (a.valueType === 'referenceValue' && b.valueType === 'referenceValue') {
    return compareNames(a.referenceValue, b.referenceValue);
  }
  if (a.valueType === 'geoPointValue' && b.valueType === 'geoPointValue') {
    const byLatitude = a.geoPointValue.latitude - b.geoPointValue.latitude;
    return byLatitude || a.geoPointValue.longitude - b.geoPointValue.longitude;
  }
  if (a.valueType === 'arrayValue' && b.valueType === 'arrayValue') {
    return compareLists(a.arrayValue.values, b.arrayValue.values, compare);
  }
  if (a.valueType === 'mapValue' && b.valueType === 'mapValue')
    return compareMaps(a.mapValue.fields, b.mapValue.fields);
  return 0;
}

/** Text that is the same for two values exactly when they are equal (1 and 1.0 are). */
export function canonical(value: Value): string {
  switch (value.valueType) {
    case 'nullValue':
      return 'null';
    case 'booleanValue':
      return value.booleanValue ? 'true' : 'false';
    case 'integerValue':
      return `n${BigInt(value.integerValue)}`;
    case 'doubleValue':
      return Number.isInteger(value.doubleValue) ? `n${BigInt(value.doubleValue)}` : `n${value.doubleValue}`;
    case 'timestampValue':
      return `t${value.timestampValue.seconds}.${value.timestampValue.nanos}`;
    case 'stringValue':
      return JSON.stringify(value.stringValue);
    case 'bytesValue':
      return `b${value.bytesValue.toString('base64')}`;
    case 'referenceValue':
      return `r${JSON.stringify(value.referenceValue)}`;
    case 'geoPointValue':
      return `g${value.geoPointValue.latitude + 0},${value.geoPointValue.longitude + 0}`;
    case 'arrayValue':
      return `[${value.arrayValue.values.map(canonical).join()}]`;
    case 'mapValue': {
      const entries = Object.entries(value.mapValue.fields).sort(([x], [y]) => compareText(x, y));
      return `{${entries.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
    }
  }
}
