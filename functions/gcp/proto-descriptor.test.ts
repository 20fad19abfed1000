import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { adapt, protos } from '@google-cloud/bigquery-storage';
import { descriptor } from './proto-descriptor.ts';
import type { Column } from './proto-rows.ts';

const { DescriptorProto } = protos.google.protobuf;
type Schema = Parameters<typeof adapt.convertBigQuerySchemaToStorageTableSchema>[0];

for (const table of ['events', 'summaries']) {
  test(`the descriptor of ${table} is that of the client library`, () => {
    const file = path.resolve(import.meta.dirname, `../../terraform/schemas/${table}.json`);
    const columns = JSON.parse(readFileSync(file, 'utf8')) as Column[];
    const schema = adapt.convertBigQuerySchemaToStorageTableSchema({ fields: columns } as unknown as Schema);
    const theirs = adapt.convertStorageSchemaToProto2Descriptor(schema, 'row').toJSON();
    const plain = (value: object): unknown => withoutOptions(DescriptorProto.fromObject(value).toJSON());
    assert.deepEqual(plain(descriptor(columns)), plain(theirs));
  });
}

/** Fields without options say so in the one and not in the other. */
function withoutOptions(value: object): unknown {
  return JSON.parse(JSON.stringify(value, (name, inner: unknown) => (name === 'options' ? undefined : inner)));
}
