import path from 'node:path';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';
import { providerOf, type Request } from './provider.ts';
import type { ProviderSchema } from './schema.ts';

const OPTIONS = { keepCase: true, longs: Number, enums: Number, defaults: true, oneofs: true } as const;

function service(file: string, pkg: string, name: string): grpc.ServiceDefinition {
  const loaded = grpc.loadPackageDefinition(protoLoader.loadSync(path.join(import.meta.dirname, file), OPTIONS));
  return ((loaded[pkg] as grpc.GrpcObject)[name] as grpc.ServiceClientConstructor).service;
}

const PROVIDER = service('plugin.proto', 'tfplugin5', 'Provider');
const CONTROLLER = service('goplugin.proto', 'plugin', 'GRPCController');

export interface RunningProvider {
  readonly port: number;
  close(): void;
}

/**
 * Serves a provider on loopback.
 *
 * @param directory where relative paths of the configuration begin
 */
export async function serveProvider(schema: ProviderSchema, directory: () => string): Promise<RunningProvider> {
  const server = new grpc.Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
  const handlers: Record<string, grpc.handleUnaryCall<Request, object>> = {};
  for (const [name, method] of Object.entries(providerOf(schema, directory))) {
    handlers[name] = (call, callback) => {
      try {
        callback(null, method(call.request, call.getPeer()));
      } catch (error) {
        callback({ code: grpc.status.INTERNAL, message: `${name}: ${(error as Error).message}` });
      }
    };
  }
  server.addService(PROVIDER, handlers);
  server.addService(CONTROLLER, {
    Shutdown: ((_call, callback) => callback(null, {})) satisfies grpc.handleUnaryCall<object, object>,
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return { port, close: () => server.forceShutdown() };
}
