import type { StoredDocument } from './collection.ts';
import { alreadyExists, failedPrecondition, invalid, notFound } from './errors.ts';
import { getField, setField } from './fields.ts';
import { checkDocumentName, parseFieldPath } from './paths.ts';
import { transformed } from './transforms.ts';
import { checkDocumentSize, storable, storableValue } from './validate.ts';
import { fromMicros, toMicros } from './values.ts';
import type { Fields, FieldTransform, Precondition, Value, Write, WriteResult } from './wire.ts';

const MAX_TRANSFORMS = 500;

/** What one write does. */
export interface Applied {
  readonly name: string;
  /** Undefined: the document is deleted. */
  readonly document: StoredDocument | undefined;
  readonly result: WriteResult;
  /** Stored size in bytes, 0 for a delete. */
  readonly size: number;
}

/** The document that a write acts on; throws INVALID_ARGUMENT when it names none. */
export function targetOf(write: Write): string {
  const name = write.update?.name ?? write.delete ?? write.transform?.document;
  if (name === undefined) throw invalid('A write has no operation.');
  return name;
}

/**
 * Applies one write to the document it finds. Pure: nothing is stored.
 * @param now commit time in epoch microseconds
 */
export function applyWrite(write: Write, current: StoredDocument | undefined, database: string, now: number): Applied {
  const name = targetOf(write);
  checkDocumentName(name, database);
  checkPrecondition(write.currentDocument, current, name);
  if (write.delete !== undefined) return { name, document: undefined, result: {}, size: 0 };

  let fields = write.update ? merged(write, current?.fields ?? {}) : (current?.fields ?? {});
  const transformResults: Value[] = [];
  const transforms = write.transform?.fieldTransforms ?? write.updateTransforms ?? [];
  if (transforms.length > MAX_TRANSFORMS) throw invalid(`More than ${MAX_TRANSFORMS} transforms of one document.`);
  for (const transform of transforms) {
    const [value, next] = transformField(transform, fields, now);
    fields = next;
    transformResults.push(value);
  }
  const size = checkDocumentSize(name, fields);
  const updateTime = fromMicros(now);
  return {
    name,
    document: { name, fields, createTime: current?.createTime ?? updateTime, updateTime, version: now },
    result: { updateTime, transformResults },
    size,
  };
}

function checkPrecondition(
  condition: Precondition | null | undefined,
  current: StoredDocument | undefined,
  name: string,
): void {
  if (condition?.exists === true && !current) throw notFound(`No document to update: ${name}`);
  if (condition?.exists === false && current) throw alreadyExists(`Document already exists: ${name}`);
  if (condition?.updateTime && (!current || toMicros(condition.updateTime) !== current.version)) {
    const stored = current ? `${current.version}` : 'absent';
    throw failedPrecondition(
      `The stored version (${stored}) does not match the required base version (${toMicros(condition.updateTime)}).`,
    );
  }
}

/** With a mask: only the fields that it names change, and those absent from the update go. */
function merged(write: Write, current: Fields): Fields {
  const update = storable(write.update!.fields);
  if (!write.updateMask) return update;
  let fields = current;
  for (const text of write.updateMask.fieldPaths) {
    const path = parseFieldPath(text);
    if (path.isName) throw invalid('__name__ cannot be updated.');
    fields = setField(fields, path.segments, getField(update, path.segments));
  }
  return fields;
}

function transformField(transform: FieldTransform, fields: Fields, now: number): [Value, Fields] {
  const path = parseFieldPath(transform.fieldPath);
  if (path.isName) throw invalid('__name__ cannot be transformed.');
  const value = transformed(transform, getField(fields, path.segments), now);
  return [value, setField(fields, path.segments, storableValue(value, path.segments.length - 1))];
}
