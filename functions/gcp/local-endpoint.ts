import { credentials, type ChannelCredentials } from '@grpc/grpc-js';

/** Options of a gRPC client for a local server, `host:port`: no credentials, no encryption. */
export function localEndpoint(host: string): { apiEndpoint: string; port: number; sslCreds: ChannelCredentials } {
  const { hostname, port } = new URL(host.includes('://') ? host : `http://${host}`);
  return { apiEndpoint: hostname, port: Number(port), sslCreds: credentials.createInsecure() };
}
