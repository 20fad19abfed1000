import { invalid } from './errors.ts';
import { valueAt } from './fields.ts';
import { parseFieldPath } from './paths.ts';
import { toDouble } from './transforms.ts';
import { isNumber } from './values.ts';
import type { Aggregation, Document, Value } from './wire.ts';

const MAX_AGGREGATIONS = 5;

/** Count, sum and average over the results of a query, by alias. */
export function aggregate(documents: readonly Document[], aggregations: readonly Aggregation[]): Record<string, Value> {
  if (aggregations.length === 0 || aggregations.length > MAX_AGGREGATIONS) {
    throw invalid(`A query takes 1 to ${MAX_AGGREGATIONS} aggregations.`);
  }
  const out: Record<string, Value> = {};
  aggregations.forEach((aggregation, i) => {
    const alias = aggregation.alias || `field_${i + 1}`;
    if (Object.hasOwn(out, alias)) throw invalid(`Aggregation alias "${alias}" is used twice.`);
    out[alias] = one(documents, aggregation);
  });
  return out;
}

function one(documents: readonly Document[], { count, sum, avg }: Aggregation): Value {
  if (count) {
    const upTo = Number(count.upTo?.value ?? Infinity);
    if (upTo <= 0) throw invalid('up_to must be positive.');
    return { valueType: 'integerValue', integerValue: String(Math.min(documents.length, upTo)) };
  }
  const field = sum?.field ?? avg?.field;
  if (!field) throw invalid('An aggregation has no operator.');
  const path = parseFieldPath(field.fieldPath);
  const numbers = documents.map((document) => valueAt(document, path)).filter((value) => value && isNumber(value));
  if (sum) return total(numbers as Value[]);
  if (numbers.length === 0) return { valueType: 'nullValue', nullValue: 'NULL_VALUE' };
  const mean = (numbers as Value[]).reduce((x, value) => x + toDouble(value), 0) / numbers.length;
  return { valueType: 'doubleValue', doubleValue: mean };
}

/** An integer while all are integers and the sum fits int64, else a double. */
function total(numbers: readonly Value[]): Value {
  let exact = 0n;
  let double = 0;
  let isExact = true;
  for (const value of numbers) {
    if (value.valueType === 'integerValue') exact += BigInt(value.integerValue);
    else isExact = false;
    double += toDouble(value);
  }
  if (isExact && BigInt.asIntN(64, exact) === exact) return { valueType: 'integerValue', integerValue: String(exact) };
  return { valueType: 'doubleValue', doubleValue: double };
}
