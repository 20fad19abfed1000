import { PermanentError } from '../errors.ts';
import type { Micros } from '../event.ts';

/** A value of an answer that is looked at. */
export type Scalar = string | number | boolean | null;

/** The answer has this value at this JSON pointer. */
export interface Condition {
  readonly pointer: string;
  readonly equals: Scalar;
}

/** Value of a header: a text, or the name of a secret. */
export type Header = string | { readonly secret: string };

export interface HttpProbe {
  readonly type: 'http';
  readonly method: 'GET' | 'POST' | 'HEAD';
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, Header>>;
  readonly body: string | null;
  /** Without one every 2xx is ready. */
  readonly ready: Condition | null;
  readonly failed: Condition | null;
}

export interface BigQueryJobProbe {
  readonly type: 'bigquery_job';
  readonly jobId: string;
  /** Null: those of the settings. */
  readonly project: string | null;
  readonly location: string | null;
}

export type Probe = HttpProbe | BigQueryJobProbe;

export const OUTCOMES = ['ready', 'timed_out', 'failed', 'cancelled'] as const;
export type OutcomeKind = (typeof OUTCOMES)[number];

/** What somebody wants to be told about. */
export interface WatchSpec {
  readonly watchId: string;
  readonly uniqueKey: string;
  readonly probe: Probe;
  /** Between the first two attempts; each later pause is `backoff` times longer, up to `maxInterval`. */
  readonly interval: Micros;
  readonly backoff: number;
  readonly maxInterval: Micros;
  /** From the creation on; the last attempt is then. */
  readonly timeout: Micros;
  /** The event_status of each outcome. */
  readonly statuses: Readonly<Record<OutcomeKind, string>>;
}

type Json = Readonly<Record<string, unknown>>;

const SECOND = 1e6;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
const MAX_ID = 1024;
const MAX_KEY = 1500;
const MAX_URL = 2048;
const MAX_BODY = 16 * 1024;
const MEMBERS = ['watch_id', 'unique_key', 'probe', 'interval', 'backoff', 'max_interval', 'timeout', 'statuses'];
const UNITS: Readonly<Record<string, Micros>> = { ms: 1e3, s: SECOND, m: 60 * SECOND, h: HOUR, d: DAY };

/**
 * A watch as somebody wrote it, with its defaults filled in. What it does not know is refused: a misspelt `timeout`
 * would otherwise be found out a day later.
 *
 * @throws PermanentError invalid_watch
 */
export function decodeWatch(value: unknown): WatchSpec {
  const given = object(value, 'the watch', MEMBERS);
  const interval = duration(given, 'interval', 30 * SECOND, SECOND, 7 * DAY);
  const backoff = given['backoff'] ?? 1;
  if (typeof backoff !== 'number' || !(backoff >= 1 && backoff <= 10))
    throw invalid('backoff is a number from 1 to 10');
  return {
    watchId: id(given['watch_id'], 'watch_id', MAX_ID),
    uniqueKey: id(given['unique_key'], 'unique_key', MAX_KEY),
    probe: decodeProbe(given['probe']),
    interval,
    backoff,
    maxInterval: duration(given, 'max_interval', Math.max(interval, 10 * 60 * SECOND), interval, 7 * DAY),
    timeout: duration(given, 'timeout', DAY, SECOND, 30 * DAY),
    statuses: decodeStatuses(given['statuses']),
  };
}

function decodeStatuses(value: unknown): WatchSpec['statuses'] {
  const given = object(value ?? {}, 'statuses', OUTCOMES);
  const status = (kind: OutcomeKind) => id(given[kind] ?? kind, `statuses.${kind}`, MAX_ID);
  return { ready: status('ready'), timed_out: status('timed_out'), failed: status('failed'), cancelled: status('cancelled') }; // prettier-ignore
}

function decodeProbe(value: unknown): Probe {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
  switch (type) {
    case 'http':
      return decodeHttp(object(value, 'probe', ['type', 'method', 'url', 'headers', 'body', 'ready', 'failed']));
    case 'bigquery_job': {
      const given = object(value, 'probe', ['type', 'job_id', 'project', 'location']);
      return {
        type,
        jobId: matching(given['job_id'], 'probe.job_id', /^[\w-]{1,1024}$/),
        project: given['project'] === undefined ? null : matching(given['project'], 'probe.project', /^[a-z][a-z0-9.:-]{4,60}$/), // prettier-ignore
        location: given['location'] === undefined ? null : matching(given['location'], 'probe.location', /^[A-Za-z0-9-]{1,60}$/), // prettier-ignore
      };
    }
    default:
      throw invalid('probe.type is http or bigquery_job');
  }
}

function decodeHttp(given: Json): HttpProbe {
  const method = given['method'] ?? 'GET';
  if (method !== 'GET' && method !== 'POST' && method !== 'HEAD') throw invalid('probe.method is GET, POST or HEAD');
  const body = given['body'] ?? null;
  if (body !== null && typeof body !== 'string') throw invalid('probe.body is a string');
  if (body !== null && method !== 'POST') throw invalid('probe.body needs the method POST');
  if (body !== null && Buffer.byteLength(body) > MAX_BODY) throw invalid(`probe.body has at most ${MAX_BODY} bytes`);
  return {
    type: 'http',
    method,
    url: decodeUrl(given['url']),
    headers: decodeHeaders(given['headers'] ?? {}),
    body,
    ready: condition(given['ready'], 'probe.ready'),
    failed: condition(given['failed'], 'probe.failed'),
  };
}

function decodeUrl(value: unknown): string {
  const text = id(value, 'probe.url', MAX_URL);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw invalid('probe.url is an http or https URL'); // prettier-ignore
  if (url.username !== '' || url.password !== '') throw invalid('probe.url holds no credentials: use a header with a secret'); // prettier-ignore
  return url.href;
}

/** Headers that follow from the request, or that would change how its answer is read. */
const RESERVED = new Set(['host', 'content-length', 'connection', 'transfer-encoding', 'accept-encoding', 'upgrade', 'te', 'expect']); // prettier-ignore

function decodeHeaders(value: unknown): HttpProbe['headers'] {
  const entries = Object.entries(object(value, 'probe.headers', null)).map(([given, one]): [string, Header] => {
    const name = given.toLowerCase();
    if (!/^[a-z0-9-]{1,100}$/.test(name) || RESERVED.has(name)) throw invalid(`probe.headers cannot have ${given}`);
    if (typeof one !== 'string') {
      return [name, { secret: matching(object(one, `the header ${name}`, ['secret'])['secret'], `the secret of ${name}`, /^[A-Z][A-Z0-9_]{0,99}$/) }]; // prettier-ignore
    }
    if (!/^[\t\x20-\x7e]{0,4096}$/.test(one)) throw invalid(`the header ${name} is printable ASCII`);
    return [name, one];
  });
  return Object.fromEntries<Header>(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function condition(value: unknown, name: string): Condition | null {
  if (value === undefined || value === null) return null;
  const given = object(value, name, ['pointer', 'equals']);
  const { pointer, equals } = given;
  // The length first: over megabytes the repetition runs out of stack.
  if (typeof pointer !== 'string' || pointer.length > 1000 || !/^(\/([^~]|~[01])*)?$/.test(pointer)) {
    throw invalid(`${name}.pointer is a JSON pointer such as /status`);
  }
  if (equals !== null && !['string', 'number', 'boolean'].includes(typeof equals)) {
    throw invalid(`${name}.equals is a string, a number, true, false or null`);
  }
  return { pointer, equals: equals as Scalar };
}

function duration(given: Json, name: string, fallback: Micros, min: Micros, max: Micros): Micros {
  const value = given[name];
  if (value === undefined) return fallback;
  const match = typeof value === 'string' ? /^(\d{1,9})(ms|s|m|h|d)$/.exec(value) : null;
  const micros = match === null ? NaN : Number(match[1]) * UNITS[match[2]!]!;
  if (!(micros >= min && micros <= max)) {
    throw invalid(`${name} is a duration such as 30s or 10m, from ${min / SECOND}s to ${max / SECOND}s`);
  }
  return micros;
}

function id(value: unknown, name: string, max: number): string {
  if (typeof value !== 'string' || value.trim() === '') throw invalid(`${name} is a string that is not blank`);
  if (!value.isWellFormed() || value.includes('\u0000')) throw invalid(`${name} is no well-formed text`);
  if (Buffer.byteLength(value) > max) throw invalid(`${name} has at most ${max} bytes`);
  return value;
}

function matching(value: unknown, name: string, pattern: RegExp): string {
  if (typeof value !== 'string' || !pattern.test(value)) throw invalid(`${name} does not look like one`);
  return value;
}

function object(value: unknown, name: string, members: readonly string[] | null): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${name} is a JSON object`);
  const unknown = members === null ? undefined : Object.keys(value).find((member) => !members.includes(member));
  if (unknown !== undefined) throw invalid(`${name} has no member ${unknown.slice(0, 100)}`);
  return value as Json;
}

function invalid(message: string): PermanentError {
  return new PermanentError('invalid_watch', message);
}
