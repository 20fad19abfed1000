import { invalid } from './errors.ts';
import { valueAt } from './fields.ts';
import { parseFieldPath, type FieldPath } from './paths.ts';
import { compare, isNaNValue, rank } from './values.ts';
import type { Document, Filter, Value } from './wire.ts';

const MAX_DISJUNCTIONS = 30;
const MAX_NOT_IN = 10;

export interface Condition {
  readonly path: FieldPath;
  readonly op: string;
  readonly value: Value;
}

export interface CompiledFilter {
  readonly matches: (document: Document) => boolean;
  /** Conditions that every result meets; a query may use them to find its results through an index. */
  readonly required: readonly Condition[];
  /** Fields with an inequality anywhere in the filter: the query is ordered by them too. */
  readonly inequalities: readonly FieldPath[];
}

interface Part {
  readonly matches: (document: Document) => boolean;
  readonly required: readonly Condition[];
  readonly inequalities: readonly FieldPath[];
  readonly disjunctions: number;
}

const INEQUALITIES = new Set([
  'LESS_THAN',
  'LESS_THAN_OR_EQUAL',
  'GREATER_THAN',
  'GREATER_THAN_OR_EQUAL',
  'NOT_EQUAL',
  'NOT_IN',
  'IS_NOT_NULL',
  'IS_NOT_NAN',
]);

/** Throws INVALID_ARGUMENT for a filter that Firestore refuses. */
export function compileFilter(filter: Filter | null): CompiledFilter {
  if (filter === null) return { matches: () => true, required: [], inequalities: [] };
  const part = compilePart(filter);
  if (part.disjunctions > MAX_DISJUNCTIONS) {
    throw invalid(`A query can have at most ${MAX_DISJUNCTIONS} disjunctions, this one has ${part.disjunctions}.`);
  }
  return part;
}

function compilePart(filter: Filter): Part {
  if (filter.compositeFilter) return compileComposite(filter.compositeFilter);
  if (filter.unaryFilter) return compileUnary(filter.unaryFilter);
  if (filter.fieldFilter) return compileField(filter.fieldFilter);
  throw invalid('A filter has no type.');
}

function compileComposite({ op, filters }: NonNullable<Filter['compositeFilter']>): Part {
  if (filters.length === 0) throw invalid('A composite filter needs at least one filter.');
  const parts = filters.map(compilePart);
  const inequalities = parts.flatMap((part) => part.inequalities);
  if (op === 'AND') {
    return {
      matches: (document) => parts.every((part) => part.matches(document)),
      required: parts.flatMap((part) => part.required),
      inequalities,
      disjunctions: parts.reduce((product, part) => product * part.disjunctions, 1),
    };
  }
  if (op !== 'OR') throw invalid(`Unknown composite operator "${op}".`);
  return {
    matches: (document) => parts.some((part) => part.matches(document)),
    required: parts.length === 1 ? parts[0]!.required : [],
    inequalities,
    disjunctions: parts.reduce((sum, part) => sum + part.disjunctions, 0),
  };
}

function compileUnary({ field, op }: NonNullable<Filter['unaryFilter']>): Part {
  const path = parseFieldPath(field.fieldPath);
  const test = UNARY[op];
  if (!test) throw invalid(`Unknown unary operator "${op}".`);
  return {
    matches: (document) => {
      const value = valueAt(document, path);
      return value !== undefined && test(value);
    },
    required: op === 'IS_NULL' ? [{ path, op: 'EQUAL', value: NULL }] : [],
    inequalities: INEQUALITIES.has(op) ? [path] : [],
    disjunctions: 1,
  };
}

const NULL: Value = { valueType: 'nullValue', nullValue: 'NULL_VALUE' };
const isNull = (value: Value): boolean => value.valueType === 'nullValue';

const UNARY: Record<string, (value: Value) => boolean> = {
  IS_NULL: isNull,
  IS_NOT_NULL: (value) => !isNull(value),
  IS_NAN: isNaNValue,
  IS_NOT_NAN: (value) => !isNaNValue(value) && !isNull(value),
};

function compileField({ field, op, value }: NonNullable<Filter['fieldFilter']>): Part {
  const path = parseFieldPath(field.fieldPath);
  if (value?.valueType === undefined || rank(value) === undefined)
    throw invalid('A filter has a value without a type.');
  if (path.isName) checkNames(op, value);
  const test = fieldTest(op, value);
  return {
    matches: (document) => {
      const found = valueAt(document, path);
      return found !== undefined && test(found);
    },
    required: [{ path, op, value }],
    inequalities: INEQUALITIES.has(op) ? [path] : [],
    disjunctions: op === 'IN' || op === 'ARRAY_CONTAINS_ANY' ? listOf(value).length : 1,
  };
}

function checkNames(op: string, value: Value): void {
  const names = op === 'IN' || op === 'NOT_IN' ? listOf(value) : [value];
  if (names.some((name) => name.valueType !== 'referenceValue')) {
    throw invalid('__name__ can only be compared with document names.');
  }
}

function listOf(value: Value): readonly Value[] {
  if (value.valueType !== 'arrayValue' || value.arrayValue.values.length === 0) {
    throw invalid('The operator needs a non-empty array.');
  }
  return value.arrayValue.values;
}

function fieldTest(op: string, value: Value): (found: Value) => boolean {
  const sameType = (found: Value) => rank(found) === rank(value);
  const elements = (found: Value) => (found.valueType === 'arrayValue' ? found.arrayValue.values : []);
  switch (op) {
    case 'EQUAL':
      return (found) => compare(found, value) === 0;
    case 'NOT_EQUAL':
      return (found) => !isNull(found) && compare(found, value) !== 0;
    case 'LESS_THAN':
      return (found) => sameType(found) && compare(found, value) < 0;
    case 'LESS_THAN_OR_EQUAL':
      return (found) => sameType(found) && compare(found, value) <= 0;
    case 'GREATER_THAN':
      return (found) => sameType(found) && compare(found, value) > 0;
    case 'GREATER_THAN_OR_EQUAL':
      return (found) => sameType(found) && compare(found, value) >= 0;
    case 'IN': {
      const list = listOf(value);
      return (found) => list.some((other) => compare(found, other) === 0);
    }
    case 'NOT_IN': {
      const list = listOf(value);
      if (list.length > MAX_NOT_IN) throw invalid(`NOT_IN takes at most ${MAX_NOT_IN} values.`);
      if (list.some(isNull)) return () => false;
      return (found) => !isNull(found) && !list.some((other) => compare(found, other) === 0);
    }
    case 'ARRAY_CONTAINS':
      return (found) => elements(found).some((element) => compare(element, value) === 0);
    case 'ARRAY_CONTAINS_ANY': {
      const list = listOf(value);
      return (found) => elements(found).some((element) => list.some((other) => compare(element, other) === 0));
    }
    default:
      throw invalid(`Unknown field operator "${op}".`);
  }
}
