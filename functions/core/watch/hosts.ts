import { PermanentError } from '../errors.ts';
import type { HttpProbe } from './spec.ts';

/** Where probes may go. */
export interface HostRules {
  /** `api.example.com`, `*.example.com`, either with `:port`; without one the port is that of the scheme. */
  readonly probeHosts: readonly string[];
  /** Whether private and loopback addresses are allowed, and secrets over plain HTTP with them; link-local ones never are. */
  readonly probePrivate: boolean;
}

/**
 * Whether a URL may be called.
 *
 * @throws PermanentError invalid_watch
 */
export function checkTarget(probe: Pick<HttpProbe, 'url' | 'headers'>, rules: HostRules): void {
  const url = new URL(probe.url);
  if (!rules.probeHosts.some((allowed) => matches(url, allowed))) {
    throw new PermanentError('invalid_watch', `the host ${url.host} is not among PROBE_HOSTS`);
  }
  const secrets = Object.values(probe.headers).some((value) => typeof value !== 'string');
  if (secrets && url.protocol === 'http:' && !rules.probePrivate) {
    throw new PermanentError('invalid_watch', 'a header with a secret needs an https URL');
  }
}

function matches(url: URL, allowed: string): boolean {
  const [, host = '', port = ''] = /^(.*?)(?::(\d+))?$/.exec(allowed.toLowerCase()) ?? [];
  const usual = url.protocol === 'https:' ? '443' : '80';
  // A URL does not keep the port of its scheme.
  if ((port || usual) !== (url.port || usual)) return false;
  return host.startsWith('*.') ? url.hostname.endsWith(host.slice(1)) : url.hostname === host;
}
