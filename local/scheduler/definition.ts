import { Cron } from 'croner';
import { StatusError } from '../shared/faults.ts';
import type { OidcToken } from '../shared/oidc.ts';

/** What a job calls. */
export interface HttpTarget {
  readonly uri: string;
  /** POST by default. */
  readonly httpMethod?: 'POST' | 'GET' | 'HEAD' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly oidcToken?: OidcToken;
}

/** What happens after a failed attempt. All times in milliseconds. */
export interface RetryConfig {
  /** Further attempts of one execution, 0 to 5; 0 by default: the next tick is the retry. */
  readonly retryCount?: number;
  /** 5 seconds by default. */
  readonly minBackoffMs?: number;
  /** An hour by default. */
  readonly maxBackoffMs?: number;
  /** How often the pause doubles before it grows by equal steps; 5 by default. */
  readonly maxDoublings?: number;
  /** No attempt begins later than this after the first; 0, the default, sets no limit. */
  readonly maxRetryDurationMs?: number;
}

export interface Job {
  /** `projects/P/locations/L/jobs/J`, or J alone. */
  readonly name: string;
  /** unix-cron: minute, hour, day of the month, month, day of the week. */
  readonly schedule: string;
  /** A name of the tz database; UTC by default. */
  readonly timeZone?: string;
  readonly httpTarget: HttpTarget;
  /** 15 seconds to 30 minutes; 3 minutes by default. */
  readonly attemptDeadlineMs?: number;
  readonly retry?: RetryConfig;
  readonly paused?: boolean;
  /** Runs every so many milliseconds in place of the schedule; nothing that Cloud Scheduler has. */
  readonly everyMs?: number;
}

export type Retry = Required<RetryConfig>;

/** How the pauses between attempts grow. */
export type Backoff = Pick<Retry, 'minBackoffMs' | 'maxBackoffMs' | 'maxDoublings'>;

/** A job that was checked, its defaults filled in. */
export interface Definition extends Job {
  readonly attemptDeadlineMs: number;
  readonly retry: Retry;
  /** The first moment of the schedule after `ms` (both epoch milliseconds); Infinity when there is none. */
  readonly next: (ms: number) => number;
}

const INVALID_ARGUMENT = 3;
const MINUTE = 60_000;
const RETRY: Retry = {
  retryCount: 0,
  minBackoffMs: 5000,
  maxBackoffMs: 60 * MINUTE,
  maxDoublings: 5,
  maxRetryDurationMs: 0,
};
const FIELD = /^(\*|[0-9A-Za-z]+(-[0-9A-Za-z]+)?)(\/[0-9]+)?(,(\*|[0-9A-Za-z]+(-[0-9A-Za-z]+)?)(\/[0-9]+)?)*$/;
const WORDS = /^(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT)$/i;

const invalid = (message: string) => new StatusError(INVALID_ARGUMENT, message);

/** Checks a job; throws INVALID_ARGUMENT. */
export function define(job: Job): Definition {
  if (!/^(projects\/[^/]+\/locations\/[^/]+\/jobs\/)?[A-Za-z0-9_-]{1,500}$/.test(job.name)) {
    throw invalid(`Job name must be formatted: projects/P/locations/L/jobs/J, not ${job.name}`);
  }
  const { uri } = job.httpTarget;
  if (!/^https?:/.test(uri) || !URL.canParse(uri)) throw invalid(`HttpTarget.uri is not a valid URL: ${uri}`);
  const retry = { ...RETRY, ...job.retry };
  between('retry_count', retry.retryCount, 0, 5);
  between('max_doublings', retry.maxDoublings, 0, Infinity);
  if (!(retry.minBackoffMs >= 0 && retry.minBackoffMs <= retry.maxBackoffMs)) {
    throw invalid('min_backoff_duration must not exceed max_backoff_duration.');
  }
  const attemptDeadlineMs = job.attemptDeadlineMs ?? 3 * MINUTE;
  between('attempt_deadline (ms)', attemptDeadlineMs, 15_000, 30 * MINUTE);
  if (job.everyMs !== undefined) between('everyMs', job.everyMs, 1, Infinity);
  return { ...job, attemptDeadlineMs, retry, next: cron(job.schedule, job.timeZone ?? 'UTC') };
}

function between(what: string, value: number, min: number, max: number): void {
  if (!(value >= min && value <= max)) throw invalid(`${what} must be between ${min} and ${max}, not ${value}.`);
}

/** Moments of a schedule. The library takes more than unix-cron has: that is refused. */
function cron(schedule: string, timezone: string): (ms: number) => number {
  const fields = schedule.trim().split(/\s+/);
  const words = schedule.match(/[A-Za-z]+/g) ?? [];
  if (fields.length !== 5 || !fields.every((field) => FIELD.test(field)) || !words.every((word) => WORDS.test(word))) {
    throw invalid(`Schedule is not unix-cron: ${schedule}`);
  }
  try {
    const parsed = new Cron(fields.join(' '), { timezone, mode: '5-part' });
    const next = (ms: number) => parsed.nextRun(new Date(ms))?.getTime() ?? Infinity;
    next(0);
    return next;
  } catch (error) {
    throw invalid(`Schedule or time zone is invalid: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Pause before the retry number `n`, from 0, in milliseconds: doubles at first, then grows by equal steps. */
export function backoff({ minBackoffMs, maxBackoffMs, maxDoublings }: Backoff, n: number): number {
  const doubled = minBackoffMs * 2 ** Math.min(n, maxDoublings);
  return Math.min(doubled * Math.max(1, n - maxDoublings + 1), maxBackoffMs);
}
