import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import protobuf from 'protobufjs';
import { METHODS, prune, type Node } from '../../scripts/build/protos.ts';
import { RECORDED } from '../terraform/permissions.ts';

/** The package of each service, and what recorded calls of it begin with. */
const PACKAGES = {
  'google.firestore.v1.Firestore': ['@google-cloud/firestore-api', 'firestore'],
  'google.cloud.bigquery.storage.v1.BigQueryWrite': ['@google-cloud/bigquery-storage', 'bigquerystorage'],
  'google.cloud.tasks.v2.CloudTasks': ['@google-cloud/tasks', 'cloudtasks'],
  'google.pubsub.v1.Publisher': ['@google-cloud/pubsub-api', 'pubsub'],
} as const;
/** Called after failures only. */
const BY_CHANCE = ['Rollback'];

function definitions(name: string): Node {
  const file = path.resolve(import.meta.dirname, '../../node_modules', name, 'build/protos/protos.json');
  return JSON.parse(readFileSync(file, 'utf8')) as Node;
}

function typesOf(root: protobuf.NamespaceBase): (protobuf.Type | protobuf.Enum)[] {
  return root.nestedArray.flatMap((one) => [
    ...(one instanceof protobuf.Type || one instanceof protobuf.Enum ? [one] : []),
    ...(one instanceof protobuf.Namespace ? typesOf(one) : []),
  ]);
}

/** What of a type decides about its bytes. */
function layout(type: protobuf.ReflectionObject | null): unknown {
  if (type instanceof protobuf.Enum) return type.values;
  // Extensions only annotate definitions, for REST.
  const fields = (type as protobuf.Type).fieldsArray.filter(({ name }) => !name.startsWith('.'));
  return fields.map((field) => {
    const { name, id, type, repeated, map, packed, partOf } = field.resolve();
    const key = field instanceof protobuf.MapField ? field.keyType : null;
    return { name, id, type, resolved: field.resolvedType?.fullName, repeated, map, key, packed, of: partOf?.name };
  });
}

function signature(root: protobuf.Namespace, service: string, name: string) {
  const method = root.lookupService(service).methods[name]!;
  const { requestType, responseType, requestStream, responseStream } = method;
  return { requestType, responseType, takes: requestStream === true, gives: responseStream === true };
}

describe('the definitions in the bundle', () => {
  const recorded = Object.values(JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, string[]>).flat();

  for (const [service, [name, prefix]] of Object.entries(PACKAGES)) {
    test(`of ${service} have what the functions call, and its types as they were`, () => {
      const called = new Set(recorded.flatMap((call) => new RegExp(`^${prefix}\\.([A-Z]\\w+) `).exec(call)?.[1] ?? []));
      const methods = METHODS[service]!;
      assert.deepEqual(methods.filter((method) => !BY_CHANCE.includes(method)).sort(), [...called].sort());

      const whole = protobuf.Root.fromJSON(definitions(name) as protobuf.INamespace).resolveAll();
      const pruned = protobuf.Root.fromJSON(prune(definitions(name)) as protobuf.INamespace).resolveAll();
      assert.deepEqual(Object.keys(pruned.lookupService(service).methods), methods);
      for (const method of methods)
        assert.deepEqual(signature(pruned, service, method), signature(whole, service, method));
      for (const type of typesOf(pruned)) {
        assert.deepEqual(layout(type), layout(whole.lookup(type.fullName)), type.fullName);
      }
      assert.ok(typesOf(pruned).length < typesOf(whole).length / 2);
    });
  }
});
