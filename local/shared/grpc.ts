import * as grpc from '@grpc/grpc-js';
import { fromJSON, type Options } from '@grpc/proto-loader';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** How messages look in JavaScript: camelCase, longs and enums as text, bytes as Buffers, defaults filled in. */
const PROTO: Options = { keepCase: false, longs: String, enums: String, defaults: true, oneofs: true };

/** Loads the protocol definitions that a Google client ships as JSON, by path: their `exports` hide the files. */
export function loadProtos(packageName: string, file: string, options: Options = {}): grpc.GrpcObject {
  const require = createRequire(import.meta.url);
  const dir = require.resolve
    .paths(packageName)!
    .map((base) => path.join(base, packageName, file))
    .find((candidate) => {
      try {
        readFileSync(candidate, { flag: 'r' });
        return true;
      } catch {
        return false;
      }
    });
  if (dir === undefined) throw new Error(`${packageName}/${file} not found; run npm ci`);
  const json = JSON.parse(readFileSync(dir, 'utf8')) as Parameters<typeof fromJSON>[0];
  return grpc.loadPackageDefinition(fromJSON(json, { ...PROTO, ...options }));
}

/** Starts a plaintext gRPC server on the loopback interface. */
export async function listen(server: grpc.Server, port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
}

/** Ends a gRPC server at once, open streams included. */
export function stop(server: grpc.Server): void {
  server.forceShutdown();
}
