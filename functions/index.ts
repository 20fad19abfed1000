import { http, type Request, type Response } from '@google-cloud/functions-framework';
import { ConfigError, describeConfig, loadConfig, type Config } from './config.ts';
import { toError } from './core/errors.ts';
import { createClock } from './gcp/clock.ts';
import { createRuntime } from './gcp/runtime.ts';
import { RETRY_LATER } from './http/answers.ts';
import { Drain } from './http/drain.ts';
import { takeRequests } from './http/direct.ts';
import type { Handler, HttpAnswer, HttpRequest } from './http/handler.ts';
import { forRequest, jsonLog, type Log } from './log.ts';
import type { EntryPoint, PortName } from './runtime.ts';

/** Milliseconds that requests under way may still take after SIGTERM; Cloud Run ends the instance after 10 s. */
const DRAIN_MS = 9000;

type Load<Used extends PortName> = () => Promise<EntryPoint<Used>>;

const clock = createClock();
const log = jsonLog((line) => process.stdout.write(line));
const drain = new Drain();
const target = process.env['FUNCTION_TARGET'] ?? targetArgument(process.argv);

await register('ingest', () => import('./ingest.ts'));
await register('finish', () => import('./finish.ts'));
await register('join', () => import('./join.ts'));
await register('submit', () => import('./submit.ts'));
await register('poll', () => import('./poll.ts'));
await register('sweep', () => import('./sweep.ts'));

process.on('unhandledRejection', (reason) => {
  // The framework ends the process; this line says why.
  log({ severity: 'CRITICAL', event: 'unhandled_rejection', error: toError(reason) });
});
stopGracefully();

/** Registers an entry point, and loads it when it is the one that runs. */
async function register<Used extends PortName>(name: string, load: Load<Used>): Promise<void> {
  if (name !== target) return;
  const config = configuration(log);
  const entry = await load();
  const runtime = await createRuntime({ config, log, clock }, entry.uses);
  const handler = entry.create(runtime);
  const answer = (incoming: HttpRequest) => answerWith(handler, config, incoming);
  http(name, (request, response) => serve(answer, request, response));
  takeRequests(answer, entry.rawBodies === true, drain);
  log({ severity: 'INFO', event: 'start', function: name, settings: describeConfig(process.env) });
}

function configuration(report: Log): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    report({ severity: 'CRITICAL', event: 'invalid_config', message: error.message, problems: error.problems });
    process.exit(1);
  }
}

/** What goes the framework's way. */
async function serve(
  answer: (incoming: HttpRequest) => Promise<HttpAnswer>,
  request: Request,
  response: Response,
): Promise<void> {
  const { status, headers, body } = await answer({
    method: request.method,
    path: request.path,
    query: request.originalUrl.split('?')[1] ?? '',
    headers: request.headers as HttpRequest['headers'],
    body: request.body as unknown,
    rawBody: request.rawBody ?? null,
  });
  response.status(status).set(headers ?? {});
  if (body === undefined) response.end();
  else response.send(body);
}

async function answerWith(handler: Handler, config: Config, incoming: HttpRequest): Promise<HttpAnswer> {
  if (drain.draining) return { status: 503, headers: { ...RETRY_LATER, connection: 'close' } };
  const traced = forRequest(log, config.projectId, incoming.headers);
  try {
    return await handler(incoming, traced);
  } catch (error) {
    traced({ severity: 'ERROR', event: 'handler_failed', error: toError(error) });
    return { status: 500 };
  }
}

/** The framework takes its target from the command line, too. */
function targetArgument(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => arg === '--target' || arg.startsWith('--target='));
  return at < 0 ? undefined : (args[at]!.split('=')[1] ?? args[at + 1]);
}

/**
 * The framework ends the process at once on SIGTERM, and what was under way would be delivered again. It adds its
 * listener when it begins to listen, after ours; it is taken off again.
 */
function stopGracefully(): void {
  const stop = () => {
    drain.finish(DRAIN_MS, clock).then(
      (left) => {
        log({ severity: left === 0 ? 'INFO' : 'WARNING', event: 'stop', requestsLeft: left });
        process.exit(0);
      },
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop);
  process.on('newListener', (event, listener: () => void) => {
    if (event === 'SIGTERM') process.nextTick(() => process.removeListener('SIGTERM', listener));
  });
}
