/**
 * What the platform runs once when it builds the functions (`gcp-build`): starts each entry point as an instance does and
 * sends it a request, so that an instance finds its code compiled, in NODE_COMPILE_CACHE. V8 takes that only where it has
 * the same flags. All services are closed ports; whatever is answered will do, and a build without the cache works as well.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';

const ENTRY_POINTS = ['ingest', 'finish', 'submit', 'join', 'poll', 'sweep'];
const ANSWER_MS = 10_000;
const STOP_MS = 12_000;
const FRAMEWORK = path.join(
  path.dirname(createRequire(path.resolve('package.json')).resolve('@google-cloud/functions-framework')),
  'main.js',
);
const CLOSED = '127.0.0.1:9';

await Promise.all(
  ENTRY_POINTS.map((name) =>
    compile(name).catch((error: unknown) => {
      process.stderr.write(`${name} starts without compiled code: ${String(error)}\n`);
    }),
  ),
);

async function compile(name: string): Promise<void> {
  const port = await freePort();
  const child = spawn(process.execPath, [FRAMEWORK, `--target=${name}`, `--port=${port}`], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_OPTIONS: process.env['NODE_OPTIONS'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      PROJECT_ID: 'compile-cache',
      PORT_DEADLINE: '1s',
      METADATA_SERVER_DETECTION: 'none',
      PUBSUB_EMULATOR_HOST: CLOSED,
      FIRESTORE_EMULATOR_HOST: CLOSED,
      BIGQUERY_EMULATOR_HOST: `http://${CLOSED}`,
      BIGQUERY_STORAGE_EMULATOR_HOST: CLOSED,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  try {
    await listening(child.stdout);
    await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: event(),
      signal: AbortSignal.timeout(ANSWER_MS),
    }).catch(() => undefined);
  } finally {
    // The code is written when the process ends by itself.
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await gone;
    clearTimeout(timer);
  }
}

/** As Pub/Sub pushes it: an event, and a hint for its key, too. */
function event(): string {
  const data = { unique_key: 'key', event_status: 'status', timestamp: new Date().toISOString() };
  const message = { data: Buffer.from(JSON.stringify(data)).toString('base64'), messageId: '1' };
  return JSON.stringify({ message, subscription: 'projects/p/subscriptions/s' });
}

async function listening(output: NodeJS.ReadableStream): Promise<void> {
  const lines = createInterface({ input: output });
  for await (const line of lines) {
    if (!line.startsWith('URL:')) continue;
    output.resume();
    return;
  }
  throw new Error('it did not start');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
