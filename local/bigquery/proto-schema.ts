import type { Field } from './sql/types.ts';

/** google.protobuf.DescriptorProto, as far as rows need it. */
export interface Descriptor {
  readonly name?: string;
  readonly field?: readonly FieldDescriptor[];
  readonly nestedType?: readonly Descriptor[];
  readonly enumType?: readonly { readonly name?: string }[];
}

export interface FieldDescriptor {
  readonly name?: string;
  readonly number?: number;
  /** `LABEL_REPEATED` and so on. */
  readonly label?: string;
  /** `TYPE_INT64` and so on. */
  readonly type?: string;
  readonly typeName?: string;
}

/** How one field of the message becomes one column. */
export interface ColumnPlan {
  /** Position of the column in the table. */
  readonly index: number;
  readonly field: Field;
  readonly path: string;
  /** Type on the wire, such as `TYPE_INT64`. */
  readonly wire: string;
  readonly repeated: boolean;
  readonly message?: MessagePlan;
}

export interface MessagePlan {
  readonly fields: readonly Field[];
  readonly prefix: string;
  readonly columns: ReadonlyMap<number, ColumnPlan>;
}

/** A writer schema that does not fit the table. `extra` when it has fields that the table lacks. */
export class SchemaMismatch extends Error {
  readonly extra: boolean;
  constructor(message: string, extra = false) {
    super(message);
    this.name = 'SchemaMismatch';
    this.extra = extra;
  }
}

const INTEGERS = [
  'INT32',
  'INT64',
  'UINT32',
  'UINT64',
  'SINT32',
  'SINT64',
  'FIXED32',
  'FIXED64',
  'SFIXED32',
  'SFIXED64',
];
const INT64S = ['TYPE_INT64', 'TYPE_SINT64', 'TYPE_SFIXED64'];

/** Types on the wire that each column type takes. */
const WIRE: Record<Field['type'], readonly string[]> = {
  STRING: ['TYPE_STRING'],
  BYTES: ['TYPE_BYTES', 'TYPE_STRING'],
  INTEGER: [...INTEGERS.map((type) => `TYPE_${type}`), 'TYPE_ENUM'],
  FLOAT: ['TYPE_DOUBLE', 'TYPE_FLOAT'],
  NUMERIC: ['TYPE_STRING'],
  BOOLEAN: ['TYPE_BOOL'],
  TIMESTAMP: [...INT64S, 'TYPE_STRING'],
  DATE: ['TYPE_INT32', 'TYPE_SINT32', 'TYPE_SFIXED32', 'TYPE_STRING'],
  TIME: ['TYPE_STRING'],
  DATETIME: ['TYPE_STRING'],
  JSON: ['TYPE_STRING'],
  RECORD: ['TYPE_MESSAGE'],
};

/**
 * Fits a writer's self-contained descriptor to the columns of a table.
 * @throws SchemaMismatch
 */
export function planMessage(
  descriptor: Descriptor,
  fields: readonly Field[],
  prefix = '',
  scope: readonly Descriptor[] = [],
): MessagePlan {
  const scopes = [descriptor, ...scope];
  const columns = new Map<number, ColumnPlan>();
  for (const member of descriptor.field ?? []) {
    const name = member.name ?? '';
    const index = fields.findIndex((field) => field.name.toLowerCase() === name.toLowerCase());
    const field = fields[index];
    if (!field) {
      const extra = `Input schema has more fields than BigQuery schema, extra fields: '${prefix}${name}'`;
      throw new SchemaMismatch(extra, true);
    }
    const wire = member.type ?? '';
    if (!WIRE[field.type].includes(wire)) {
      throw new SchemaMismatch(
        `Proto field ${prefix}${name} of type ${wire.replace('TYPE_', '').toLowerCase()} does not fit a column of type ${field.type}`,
      );
    }
    const repeated = member.label === 'LABEL_REPEATED';
    if (repeated !== (field.mode === 'REPEATED')) {
      throw new SchemaMismatch(`Proto field ${prefix}${name} and its column differ in being repeated`);
    }
    const path = prefix + field.name;
    const inner = wire === 'TYPE_MESSAGE' ? find(member.typeName ?? '', scopes) : undefined;
    if (wire === 'TYPE_MESSAGE' && !inner) {
      throw new SchemaMismatch(`Proto field ${prefix}${name}: the descriptor lacks its type ${member.typeName}`);
    }
    const message = inner && planMessage(inner, field.fields ?? [], `${path}.`, scopes);
    columns.set(member.number ?? 0, { index, field, path, wire, repeated, ...(message && { message }) });
  }
  return { fields, prefix, columns };
}

/** A message type by its name, in the nearest scope that has it. */
function find(typeName: string, scopes: readonly Descriptor[]): Descriptor | undefined {
  const name = typeName.split('.').at(-1);
  for (const scope of scopes) {
    const found = scope.nestedType?.find((nested) => nested.name === name);
    if (found) return found;
  }
  return undefined;
}
