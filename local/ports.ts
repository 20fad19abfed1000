import { once } from 'node:events';
import { createServer, connect, type AddressInfo } from 'node:net';

/**
 * A port that nobody listens on. Below the range that systems hand out by themselves: a function process gives its
 * port back when it is killed, and must find it free when it comes again.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    } catch {
      // Taken; try another one.
    } finally {
      server.close();
    }
  }
  throw new Error('no free port between 20000 and 32000');
}

/** Whether something takes connections on this port. */
export async function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
