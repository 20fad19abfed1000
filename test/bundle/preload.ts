import dns from 'node:dns';
import net from 'node:net';

/**
 * Preloaded into a function process: connections to Google's endpoints go to a port of this machine. Names, certificates
 * and everything that is sent stay what they would be.
 */

const PORT = Number(process.env['GOOGLE_PORT']);
const { lookup } = dns;
const { lookup: lookupAsync } = dns.promises;
const { connect } = net.Socket.prototype as { connect: (...args: unknown[]) => net.Socket };

const here = (hostname: string): string => (hostname.endsWith('.googleapis.com') ? '127.0.0.1' : hostname);

Object.assign(dns, {
  lookup: (hostname: string, ...rest: [never, never]) => lookup(here(hostname), ...rest),
});
Object.assign(dns.promises, {
  lookup: (hostname: string, options: dns.LookupOptions) => lookupAsync(here(hostname), options),
  // gRPC would look there for a configuration of the service.
  resolveTxt: () => Promise.reject(new Error('no such record')),
});
Object.assign(net.Socket.prototype, {
  connect(this: net.Socket, ...args: unknown[]): net.Socket {
    // Node.js itself passes the arguments on as one list.
    const list = (Array.isArray(args[0]) ? args[0] : args) as unknown[];
    const [options] = list;
    if (typeof options === 'object' && options !== null && Number((options as { port?: unknown }).port) === 443) {
      list[0] = { ...options, port: PORT };
    }
    return connect.apply(this, args);
  },
});
