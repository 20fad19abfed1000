import type * as grpc from '@grpc/grpc-js';
import { loadProtos } from '../shared/grpc.ts';

/** The service definition, changed so that it remembers the encoded size of every request. */
export function loadService(): { service: grpc.ServiceDefinition; sizeOf: (request: object) => number } {
  const root = loadProtos('@google-cloud/firestore', 'build/protos/v1.json') as unknown as {
    google: { firestore: { v1: { Firestore: { service: grpc.ServiceDefinition } } } };
  };
  const sizes = new WeakMap<object, number>();
  const service: Record<string, grpc.MethodDefinition<object, object>> = {};
  for (const [name, method] of Object.entries(root.google.firestore.v1.Firestore.service)) {
    const definition = method as grpc.MethodDefinition<object, object>;
    const requestDeserialize = (bytes: Buffer) => {
      const request = definition.requestDeserialize(bytes);
      sizes.set(request, bytes.length);
      return request;
    };
    service[name] = { ...definition, requestDeserialize };
  }
  return { service, sizeOf: (request) => sizes.get(request) ?? 0 };
}
