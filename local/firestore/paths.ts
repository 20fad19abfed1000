import { invalid } from './errors.ts';

/** Limits that Google publishes, in bytes of UTF-8. */
const MAX_ID_BYTES = 1500;
const MAX_NAME_BYTES = 6 * 1024;
const MAX_DEPTH = 100;

const DATABASE = /^projects\/[^/]+\/databases\/[^/]+$/;
const PREFIX = /^(projects\/[^/]+\/databases\/[^/]+)\/documents(?:\/(.*))?$/s;
const RESERVED = /^__.*__$/s;

export const bytes = (text: string): number => Buffer.byteLength(text);

export function checkDatabase(name: string): string {
  if (!DATABASE.test(name)) throw invalid(`Invalid database name "${name}".`);
  return name;
}

/** The database that a name of a document, or the parent of a query, lies in. */
export function databaseOf(name: string): string {
  const database = PREFIX.exec(name)?.[1];
  if (database === undefined) throw invalid(`Invalid resource name "${name}".`);
  return database;
}

/** The part after `documents/`; '' for the root. */
export const relative = (name: string): string => PREFIX.exec(name)?.[2] ?? '';

export function checkId(id: string, kind: 'Document' | 'Collection'): void {
  if (id === '') throw invalid(`${kind} id must not be empty.`);
  if (id === '.' || id === '..') throw invalid(`Resource id "${id}" is invalid.`);
  if (RESERVED.test(id)) throw invalid(`Resource id "${id}" is invalid because it is reserved.`);
  if (bytes(id) > MAX_ID_BYTES) throw invalid(`${kind} id is longer than ${MAX_ID_BYTES} bytes.`);
}

/** Throws INVALID_ARGUMENT unless `name` can be a document of `database`. */
export function checkDocumentName(name: string, database: string): void {
  const prefix = `${database}/documents/`;
  if (!name.startsWith(prefix)) throw invalid(`Document name "${name}" lies outside of "${database}".`);
  if (bytes(name) > MAX_NAME_BYTES) throw invalid(`Document name is longer than ${MAX_NAME_BYTES} bytes.`);
  const segments = name.slice(prefix.length).split('/');
  if (segments.length % 2 !== 0) throw invalid(`Document name "${name}" has an odd number of segments.`);
  if (segments.length > 2 * MAX_DEPTH) throw invalid(`Document name is deeper than ${MAX_DEPTH} collections.`);
  segments.forEach((id, i) => checkId(id, i % 2 === 0 ? 'Collection' : 'Document'));
}

/** `a/b/c/d` to `a/b/c`. */
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
/** `a/b/c/d` to `d`. */
export const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export function checkFieldName(name: string): void {
  if (name === '') throw invalid('Field name must not be empty.');
  if (RESERVED.test(name)) throw invalid(`Field name "${name}" is invalid because it is reserved.`);
  if (bytes(name) > MAX_ID_BYTES) throw invalid(`Field name is longer than ${MAX_ID_BYTES} bytes.`);
}

/** A field path: its text and its segments. `__name__` stands for the name of the document. */
export interface FieldPath {
  readonly text: string;
  readonly segments: readonly string[];
  readonly isName: boolean;
}

const SEGMENT = /`((?:[^`\\]|\\.)+)`|([A-Za-z_][A-Za-z0-9_]*)/sy;
const parsed = new Map<string, FieldPath>();

/** Parses `a.b` and `` `a.b`.c ``; segments that are no simple names must stand in backticks. */
export function parseFieldPath(text: string): FieldPath {
  const known = parsed.get(text);
  if (known) return known;
  const path = text === '__name__' ? { text, segments: [], isName: true } : parse(text);
  if (parsed.size > 10_000) parsed.clear();
  parsed.set(text, path);
  return path;
}

function parse(text: string): FieldPath {
  const segments: string[] = [];
  SEGMENT.lastIndex = 0;
  for (;;) {
    const match = SEGMENT.exec(text);
    if (!match) throw invalid(`Invalid field path "${text}".`);
    const segment = match[1]?.replace(/\\(.)/gs, '$1') ?? match[2]!;
    checkFieldName(segment);
    segments.push(segment);
    const end = match.index + match[0].length;
    if (end === text.length) return { text, segments, isName: false };
    if (text[end] !== '.') throw invalid(`Invalid field path "${text}".`);
    SEGMENT.lastIndex = end + 1;
  }
}
