import type { protos } from '@google-cloud/bigquery-storage';
import type { Column } from './proto-rows.ts';

type Descriptor = protos.google.protobuf.IDescriptorProto;
type Field = protos.google.protobuf.IFieldDescriptorProto;

const TYPES = {
  STRING: 'TYPE_STRING',
  INTEGER: 'TYPE_INT64',
  TIMESTAMP: 'TYPE_INT64',
  BOOLEAN: 'TYPE_BOOL',
  FLOAT: 'TYPE_DOUBLE',
  RECORD: 'TYPE_MESSAGE',
} as const;

const LABELS = { REQUIRED: 'LABEL_REQUIRED', NULLABLE: 'LABEL_OPTIONAL', REPEATED: 'LABEL_REPEATED' } as const;

/**
 * What the rows of `encodeRow` look like, for the first request of a connection. The client library has the same, but
 * loads four megabytes of generated code for it.
 */
export function descriptor(columns: readonly Column[], name = 'row'): Descriptor {
  const nestedType: Descriptor[] = [];
  const field = columns.map((column, index): Field => {
    const type = TYPES[column.type as keyof typeof TYPES];
    const label = LABELS[column.mode as keyof typeof LABELS];
    const common = { name: column.name, number: index + 1, label, type };
    if (type !== 'TYPE_MESSAGE') return common;
    const typeName = `${name}_${column.name}`;
    nestedType.push(descriptor(column.fields ?? [], typeName));
    return { ...common, typeName };
  });
  return nestedType.length === 0 ? { name, field } : { name, field, nestedType };
}
