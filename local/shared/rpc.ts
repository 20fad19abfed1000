import * as grpc from '@grpc/grpc-js';
import { StatusError, type Call, type Faults } from './faults.ts';

/** An error as gRPC sends it; one without a status becomes INTERNAL. */
export function serviceError(error: unknown): grpc.ServiceError {
  const known = error instanceof StatusError;
  const details = known
    ? error.details
    : `internal: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  const code = known ? (error.code as grpc.status) : grpc.status.INTERNAL;
  return Object.assign(new Error(details), { code, details, metadata: new grpc.Metadata() });
}

/** A unary gRPC handler that passes the fault hook. `handle` may use `signal`, aborted when the caller leaves. */
export function unary<Request, Answer>(
  faults: Faults,
  service: Call['service'],
  method: string,
  resource: (request: Request) => string,
  handle: (request: Request, signal: AbortSignal) => Answer | Promise<Answer>,
): grpc.handleUnaryCall<Request, Answer> {
  return (call, callback) => {
    const { request } = call;
    const leave = new AbortController();
    call.on('cancelled', () => leave.abort());
    Promise.resolve()
      .then(() => faults.around(service, method, resource(request), () => handle(request, leave.signal)))
      .then(
        (answer) => callback(null, answer),
        (error: unknown) => callback(serviceError(error)),
      );
  };
}

/** A service definition that remembers the encoded size of every request, and how to ask for it. */
export function sized(service: grpc.ServiceDefinition): {
  service: grpc.ServiceDefinition;
  sizeOf: (request: object) => number;
} {
  const sizes = new WeakMap<object, number>();
  const wrapped: Record<string, grpc.MethodDefinition<object, object>> = {};
  for (const [name, method] of Object.entries(service)) {
    const definition = method as grpc.MethodDefinition<object, object>;
    const requestDeserialize = (bytes: Buffer) => {
      const request = definition.requestDeserialize(bytes);
      sizes.set(request, bytes.length);
      return request;
    };
    wrapped[name] = { ...definition, requestDeserialize };
  }
  return { service: wrapped, sizeOf: (request) => sizes.get(request) ?? 0 };
}
