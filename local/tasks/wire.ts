import type { Seconds } from '../shared/wire.ts';

/** google.cloud.tasks.v2 as the protocol layer shows it: camelCase, defaults filled in, absent messages null. */

export interface RateLimits {
  maxDispatchesPerSecond: number;
  maxBurstSize: number;
  maxConcurrentDispatches: number;
}

export interface RetryConfig {
  /** -1 is without limit. */
  maxAttempts: number;
  maxRetryDuration: Seconds | null;
  minBackoff: Seconds | null;
  maxBackoff: Seconds | null;
  maxDoublings: number;
}

/** A queue as it is sent and as it is kept: the kept one has every default filled in. */
export interface QueueSettings {
  name: string;
  rateLimits: RateLimits | null;
  retryConfig: RetryConfig | null;
  state: string;
  purgeTime: Seconds | null;
  appEngineRoutingOverride: object | null;
  [field: string]: unknown;
}

export interface WireHttpRequest {
  url: string;
  httpMethod: string;
  headers: Record<string, string>;
  body: Buffer;
  oauthToken?: object | null;
  oidcToken?: { serviceAccountEmail: string; audience: string } | null;
}

export interface WireAttempt {
  scheduleTime: Seconds | null;
  dispatchTime: Seconds | null;
  responseTime: Seconds | null;
  responseStatus: { code: number; message: string } | null;
}

export interface WireTask {
  name: string;
  httpRequest?: WireHttpRequest | null;
  appEngineHttpRequest?: object | null;
  scheduleTime: Seconds | null;
  createTime: Seconds | null;
  dispatchDeadline: Seconds | null;
  dispatchCount: number;
  responseCount: number;
  firstAttempt: WireAttempt | null;
  lastAttempt: WireAttempt | null;
  view: string;
}

export interface CreateTaskRequest {
  parent: string;
  task: WireTask | null;
  responseView: string;
}

/** `projects/p/locations/l/queues/q/tasks/t` to `t`. */
export const shortName = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

/** Name of the queue that a task's name is under. */
export const queueOf = (task: string): string => task.slice(0, task.indexOf('/tasks/'));
