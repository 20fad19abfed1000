import type { FieldPath } from './paths.ts';
import type { Document, Fields, Value } from './wire.ts';

/** The value at a path, or undefined. */
export function getField(fields: Fields, segments: readonly string[]): Value | undefined {
  let value: Value | undefined;
  let inside: Fields | undefined = fields;
  for (const segment of segments) {
    if (inside === undefined || !Object.hasOwn(inside, segment)) return undefined;
    value = inside[segment]!;
    inside = value.valueType === 'mapValue' ? value.mapValue.fields : undefined;
  }
  return value;
}

/** A copy in which the value at a path is set, or removed when `value` is undefined. Makes missing maps. */
export function setField(fields: Fields, segments: readonly string[], value: Value | undefined): Fields {
  const [segment, ...rest] = segments as [string, ...string[]];
  const copy: Record<string, Value> = { ...fields };
  if (rest.length === 0) {
    if (value === undefined) delete copy[segment];
    else copy[segment] = value;
    return copy;
  }
  const current = Object.hasOwn(copy, segment) ? copy[segment] : undefined;
  const isMap = current?.valueType === 'mapValue';
  if (value === undefined && !isMap) return copy;
  const inside = setField(isMap ? current.mapValue.fields : {}, rest, value);
  copy[segment] = { valueType: 'mapValue', mapValue: { fields: inside } };
  return copy;
}

/** The value that a query sees at a path; `__name__` is a reference to the document itself. */
export function valueAt(document: Document, path: FieldPath): Value | undefined {
  if (path.isName) return { valueType: 'referenceValue', referenceValue: document.name };
  return getField(document.fields, path.segments);
}

/** The document with only the fields at these paths. */
export function project(document: Document, paths: readonly FieldPath[]): Document {
  let fields: Fields = {};
  for (const path of paths) {
    if (path.isName) continue;
    const value = getField(document.fields, path.segments);
    if (value !== undefined) fields = setField(fields, path.segments, value);
  }
  return { ...document, fields };
}
