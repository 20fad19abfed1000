import { invalid } from './errors.ts';
import { storableValue } from './validate.ts';
import { compare, fromMicros, isNumber } from './values.ts';
import type { FieldTransform, Value } from './wire.ts';

const MAX_INTEGER = 2n ** 63n - 1n;
const MIN_INTEGER = -(2n ** 63n);

/**
 * The new value of a field.
 * @param current value before, undefined when the field is absent
 * @param now commit time in epoch microseconds
 */
export function transformed(transform: FieldTransform, current: Value | undefined, now: number): Value {
  switch (transform.transformType) {
    case 'setToServerValue':
      if (transform.setToServerValue !== 'REQUEST_TIME') throw invalid('Unknown server value.');
      // The request time has millisecond precision, unlike commit times.
      return { valueType: 'timestampValue', timestampValue: fromMicros(Math.floor(now / 1000) * 1000) };
    case 'increment':
      return incremented(number(transform.increment), current);
    case 'maximum':
      return extreme(number(transform.maximum), current, 1);
    case 'minimum':
      return extreme(number(transform.minimum), current, -1);
    case 'appendMissingElements': {
      const values = [...elements(current)];
      for (const element of transform.appendMissingElements.values.map((value) => storableValue(value, 1, true))) {
        if (!values.some((value) => compare(value, element) === 0)) values.push(element);
      }
      return { valueType: 'arrayValue', arrayValue: { values } };
    }
    case 'removeAllFromArray': {
      const gone = transform.removeAllFromArray.values;
      const values = elements(current).filter((value) => !gone.some((other) => compare(value, other) === 0));
      return { valueType: 'arrayValue', arrayValue: { values } };
    }
    default:
      throw invalid('A field transform has no type.');
  }
}

function number(value: Value): Value {
  if (!isNumber(value)) throw invalid('The operand of a numeric transform must be a number.');
  return value;
}

/** Anything but an array counts as an empty one. */
const elements = (value: Value | undefined): readonly Value[] =>
  value?.valueType === 'arrayValue' ? value.arrayValue.values : [];

/** Integers saturate at the bounds of int64; a sum with a double is a double. */
function incremented(by: Value, current: Value | undefined): Value {
  if (current === undefined || !isNumber(current)) return by;
  if (current.valueType === 'integerValue' && by.valueType === 'integerValue') {
    const sum = BigInt(current.integerValue) + BigInt(by.integerValue);
    const bounded = sum > MAX_INTEGER ? MAX_INTEGER : sum < MIN_INTEGER ? MIN_INTEGER : sum;
    return { valueType: 'integerValue', integerValue: String(bounded) };
  }
  return { valueType: 'doubleValue', doubleValue: toDouble(current) + toDouble(by) };
}

export function toDouble(value: Value): number {
  if (value.valueType === 'doubleValue') return value.doubleValue;
  return value.valueType === 'integerValue' ? Number(value.integerValue) : NaN;
}

/** The larger (sign 1) or smaller (sign -1) of the two; the stored value stays when they are equal. */
function extreme(operand: Value, current: Value | undefined, sign: 1 | -1): Value {
  if (current === undefined || !isNumber(current)) return operand;
  return compare(current, operand) * sign >= 0 ? current : operand;
}
