import { decode, encode, ExtensionCodec } from '@msgpack/msgpack';
import type { Attribute, Block } from './schema.ts';

/** A value that Terraform does not know before it applies. */
export class Unknown {
  readonly unknown = true;
}
export const UNKNOWN = new Unknown();

export type Value = null | string | number | boolean | Unknown | readonly Value[] | ValueObject;
export interface ValueObject {
  readonly [name: string]: Value;
}

export function isUnknown(value: unknown): value is Unknown {
  return value instanceof Unknown;
}

export function isObject(value: Value | undefined): value is ValueObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isUnknown(value);
}

// Terraform writes an unknown value as extension 0, or 12 with refinements.
const extensionCodec = new ExtensionCodec();
for (const type of [0, 12]) {
  extensionCodec.register({
    type,
    encode: (value) => (type === 0 && isUnknown(value) ? new Uint8Array([0]) : null),
    decode: () => UNKNOWN,
  });
}

export interface DynamicValue {
  readonly msgpack?: Uint8Array;
  readonly json?: Uint8Array;
}

export function read(value: DynamicValue | null | undefined): Value {
  if (value?.msgpack !== undefined && value.msgpack.length > 0) {
    return decode(value.msgpack, { extensionCodec }) as Value;
  }
  if (value?.json !== undefined && value.json.length > 0) {
    return JSON.parse(Buffer.from(value.json).toString('utf8')) as Value;
  }
  return null;
}

export function write(value: Value): DynamicValue {
  return { msgpack: Buffer.from(encode(value, { extensionCodec })) };
}

/** Where a value stands: names of attributes and blocks, indices of nested blocks. */
export type Path = readonly (string | number)[];

/** Every attribute and nested block of a block present, null or empty where not given. */
export function complete(block: Block, value: Value): Value {
  if (!isObject(value)) return value;
  const out: Record<string, Value> = {};
  for (const name of Object.keys(block.attributes ?? {})) out[name] = value[name] ?? null;
  for (const [name, nested] of Object.entries(block.block_types ?? {})) {
    const inner = value[name] ?? null;
    if (nested.nesting_mode === 'single') out[name] = inner === null ? null : complete(nested.block, inner);
    else out[name] = Array.isArray(inner) ? inner.map((item: Value) => complete(nested.block, item)) : (inner ?? []);
  }
  return out;
}

/** Replaces every attribute of a block and of the blocks in it. */
export function mapAttributes(
  block: Block,
  value: Value,
  change: (attribute: Attribute, value: Value, at: Path) => Value,
  at: Path = [],
): Value {
  if (!isObject(value)) return value;
  const out: Record<string, Value> = { ...value };
  for (const [name, attribute] of Object.entries(block.attributes ?? {})) {
    out[name] = change(attribute, value[name] ?? null, [...at, name]);
  }
  for (const [name, nested] of Object.entries(block.block_types ?? {})) {
    const inner = value[name] ?? null;
    if (Array.isArray(inner)) {
      out[name] = inner.map((item: Value, i) => mapAttributes(nested.block, item, change, [...at, name, i]));
    } else if (inner !== null) out[name] = mapAttributes(nested.block, inner, change, [...at, name]);
  }
  return out;
}

/** The value at a path; null where there is none. */
export function dig(value: Value, at: Path): Value {
  let found: Value = value;
  for (const step of at) {
    if (Array.isArray(found)) found = (found as readonly Value[])[Number(step)] ?? null;
    else if (isObject(found)) found = found[String(step)] ?? null;
    else return null;
  }
  return found;
}
