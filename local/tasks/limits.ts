import { StatusError } from '../shared/faults.ts';
import { fromMs, toMs } from '../shared/wire.ts';
import type { QueueSettings, RateLimits, RetryConfig, WireHttpRequest, WireTask } from './wire.ts';

const INVALID_ARGUMENT = 3;
const UNIMPLEMENTED = 12;

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const LATEST_SCHEDULE = 30 * DAY;
const DEADLINE = { min: 15_000, max: 30 * MINUTE, fallback: 10 * MINUTE };
const MAX_TASK_BYTES = 1024 * 1024;
const MAX_HEADER_BYTES = 80 * 1024;
const MAX_URL = 2083;
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
const LOCATION = String.raw`projects/[A-Za-z0-9.:-]+/locations/[a-z0-9-]+`;
const QUEUE = new RegExp(`^${LOCATION}/queues/[A-Za-z0-9-]{1,100}$`);
const TASK = new RegExp(`^${LOCATION}/queues/[A-Za-z0-9-]{1,100}/tasks/[A-Za-z0-9_-]{1,500}$`);

export const invalid = (message: string): StatusError => new StatusError(INVALID_ARGUMENT, message);
const unsupported = (what: string) =>
  new StatusError(UNIMPLEMENTED, `${what} is not available on the local Cloud Tasks`);

const between = (what: string, value: number, min: number, max: number) => {
  if (!(value >= min && value <= max)) throw invalid(`${what} must be between ${min} and ${max}, not ${value}.`);
};

/** Throws unless it is `projects/P/locations/L/queues/Q/tasks/T` with legal ids. */
export function checkTaskName(name: string): void {
  if (!TASK.test(name)) throw invalid(`Task name must be formatted: PARENT/tasks/[A-Za-z0-9_-]{1,500}, not ${name}`);
}

/** Milliseconds of a duration, cut to whole seconds. */
function seconds(value: RetryConfig['minBackoff'], fallback: number): number {
  const ms = toMs(value);
  return ms === undefined ? fallback : ms < 1000 ? ms : Math.floor(ms / 1000) * 1000;
}

/** The settings with Google's defaults filled in; throws when they are out of range or ask for what is not here. */
export function checkQueue(given: QueueSettings): QueueSettings {
  if (!QUEUE.test(given.name))
    throw invalid(`Queue name must be formatted: projects/P/locations/L/queues/[A-Za-z0-9-]{1,100}, not ${given.name}`);
  if (given.appEngineRoutingOverride) throw unsupported('app_engine_routing_override');
  return { ...given, rateLimits: checkRate(given.rateLimits), retryConfig: checkRetry(given.retryConfig) };
}

function checkRate(given: RateLimits | null): RateLimits {
  const maxDispatchesPerSecond = given?.maxDispatchesPerSecond || 500;
  const maxConcurrentDispatches = given?.maxConcurrentDispatches || 1000;
  if (!(maxDispatchesPerSecond > 0 && maxDispatchesPerSecond <= 500)) {
    throw invalid(`max_dispatches_per_second must be above 0 and at most 500, not ${maxDispatchesPerSecond}.`);
  }
  between('max_concurrent_dispatches', maxConcurrentDispatches, 1, 5000);
  // Google picks the burst and does not say how; 500 a second gives 100.
  const maxBurstSize = Math.max(10, Math.ceil(maxDispatchesPerSecond / 5));
  return { maxDispatchesPerSecond, maxBurstSize, maxConcurrentDispatches };
}

function checkRetry(given: RetryConfig | null): RetryConfig {
  const maxAttempts = given?.maxAttempts || 100;
  const maxDoublings = given?.maxDoublings || 16;
  const min = seconds(given?.minBackoff ?? null, 100);
  const max = seconds(given?.maxBackoff ?? null, 60 * MINUTE);
  const retry = seconds(given?.maxRetryDuration ?? null, 0);
  between('max_attempts', maxAttempts, -1, Infinity);
  between('max_doublings', maxDoublings, 0, Infinity);
  between('max_retry_duration (ms)', retry, 0, Infinity);
  between('min_backoff (ms)', min, 0, 60 * MINUTE);
  between('max_backoff (ms)', max, 0, 60 * MINUTE);
  if (min > max) throw invalid('min_backoff must not exceed max_backoff.');
  return {
    maxAttempts,
    maxDoublings,
    maxRetryDuration: fromMs(retry),
    minBackoff: fromMs(min),
    maxBackoff: fromMs(max),
  };
}

/** A task's own part that was checked. Milliseconds. */
export interface CheckedTask {
  readonly http: WireHttpRequest;
  /** Not before now. */
  readonly scheduleTime: number;
  readonly deadline: number;
}

/** Throws unless the task is acceptable; `bytes` is its encoded size. */
export function checkTask(task: WireTask, bytes: number, now: number): CheckedTask {
  if (bytes > MAX_TASK_BYTES) throw invalid(`Task size too large: ${bytes} bytes, at most ${MAX_TASK_BYTES}.`);
  if (task.appEngineHttpRequest) throw unsupported('app_engine_http_request');
  const { httpRequest: http } = task;
  if (!http) throw invalid('Task.http_request must be set.');
  checkHttp(http);
  const scheduleTime = Math.max(toMs(task.scheduleTime) ?? now, now);
  if (scheduleTime > now + LATEST_SCHEDULE)
    throw invalid('Task.schedule_time must be less than 30 days in the future.');
  const deadline = toMs(task.dispatchDeadline) ?? DEADLINE.fallback;
  between('Task.dispatch_deadline (ms)', deadline, DEADLINE.min, DEADLINE.max);
  return { http, scheduleTime, deadline };
}

function checkHttp(http: WireHttpRequest): void {
  if (!/^https?:\/\//.test(http.url) || !URL.canParse(http.url)) {
    throw invalid(`HttpRequest.url must be a valid URL with http:// or https://, not ${http.url}`);
  }
  if (encodeURI(http.url).length > MAX_URL) throw invalid(`HttpRequest.url must have at most ${MAX_URL} characters.`);
  if (http.body.length > 0 && !WITH_BODY.has(methodOf(http))) {
    throw invalid(`HTTP method ${http.httpMethod} does not take a body.`);
  }
  const headers = Object.entries(http.headers);
  const size = headers.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  if (size >= MAX_HEADER_BYTES) throw invalid(`HttpRequest.headers must be smaller than ${MAX_HEADER_BYTES} bytes.`);
  if (http.oauthToken) throw unsupported('oauth_token');
  if (http.oidcToken && !http.oidcToken.serviceAccountEmail) {
    throw invalid('OidcToken.service_account_email must be set.');
  }
}

/** POST when it is not said. */
export const methodOf = ({ httpMethod }: WireHttpRequest): string =>
  httpMethod === '' || httpMethod === 'HTTP_METHOD_UNSPECIFIED' ? 'POST' : httpMethod;
