import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { CodaflowError, PermanentError, toError, TransientError } from '../core/errors.ts';
import { checkTarget } from '../core/watch/hosts.ts';
import type { ProbeAnswer } from '../core/watch/judge.ts';
import type { HttpProbe } from '../core/watch/spec.ts';
import { checkedLookup, mayCall, refuseAddress } from './addresses.ts';
import type { AdapterContext } from './runtime.ts';

const MAX_ANSWER = 256 * 1024;
const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Secrets are environment variables of this prefix: a watch can name no other variable. */
export const SECRET_PREFIX = 'PROBE_SECRET_';

interface Response extends ProbeAnswer {
  readonly location: string | null;
}

/** Calls what a probe names, within the rules of the settings and within the deadline of a port. */
export function createHttpProbe(
  { config }: Pick<AdapterContext, 'config'>,
  env: Readonly<Record<string, string | undefined>> = process.env,
): (probe: HttpProbe) => Promise<ProbeAnswer> {
  return async (probe) => {
    const signal = AbortSignal.timeout(config.portDeadline / 1000);
    const headers = resolveHeaders(probe, env);
    let { url, method } = probe as { url: string; method: string };
    for (let redirects = 0; ; redirects++) {
      checkTarget({ url, headers: probe.headers }, config);
      const answer = await request(new URL(url), { method, headers, body: method === 'POST' ? probe.body : null, signal, isPrivateAllowed: config.probePrivate }); // prettier-ignore
      if (!REDIRECTS.has(answer.status) || answer.location === null) return answer;
      if (redirects >= MAX_REDIRECTS) throw refused(`${probe.url} redirects more than ${MAX_REDIRECTS} times`);
      const next = URL.canParse(answer.location, url) ? new URL(answer.location, url) : null;
      // Also headers with secrets go along, so only to the very same place.
      if (next?.origin !== new URL(url).origin) throw refused(`${probe.url} redirects to another host`);
      url = next.href;
      if (answer.status === 303 && method === 'POST') method = 'GET';
    }
  };
}

function resolveHeaders(
  { headers }: HttpProbe,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const resolved = Object.entries(headers).map(([name, value]) => {
    if (typeof value === 'string') return [name, value] as const;
    const secret = env[`${SECRET_PREFIX}${value.secret}`];
    // It may be set by the next deployment.
    if (secret === undefined) throw new TransientError('unavailable', `the secret ${value.secret} is not set`);
    return [name, secret.trim()] as const;
  });
  return Object.fromEntries(resolved);
}

interface Options {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal;
  readonly isPrivateAllowed: boolean;
}

function request(url: URL, options: Options): Promise<Response> {
  const { method, headers, body, signal, isPrivateAllowed } = options;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  // A literal address is not looked up.
  if (isIP(host) !== 0 && !mayCall(host, isPrivateAllowed)) throw refuseAddress(url.hostname, host, isPrivateAllowed);
  return new Promise((resolve, reject) => {
    const fail = (thrown: unknown): void => {
      const error = toError(thrown);
      if (error instanceof CodaflowError) reject(error);
      else if (signal.aborted) reject(new TransientError('deadline_exceeded', 'the probe took too long', error));
      else reject(new TransientError('unavailable', `no answer: ${error.message}`, error));
    };
    const sent = (url.protocol === 'https:' ? https : http).request(url, {
      method,
      signal,
      // A connection of its own: a kept one would not be checked again.
      agent: false,
      lookup: checkedLookup(isPrivateAllowed),
      headers: {
        'user-agent': 'codaflow',
        accept: 'application/json',
        ...headers,
        'accept-encoding': 'identity',
        ...(body === null ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
    });
    sent.on('error', fail);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > MAX_ANSWER) sent.destroy(refused(`the answer has more than ${MAX_ANSWER} bytes`));
      });
      response.on('error', fail);
      response.on('end', () => {
        const { statusCode: status = 0, headers: given } = response;
        resolve({ status, body: Buffer.concat(chunks).toString(), location: given.location ?? null });
      });
    });
    sent.end(body ?? undefined);
  });
}

function refused(message: string): PermanentError {
  return new PermanentError('invalid_watch', message);
}
