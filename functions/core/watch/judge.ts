import { locate, parsePointer } from '../sequence/pointer.ts';
import type { Condition, HttpProbe } from './spec.ts';
import type { Found } from './watch.ts';

/** What an HTTP probe was answered. */
export interface ProbeAnswer {
  readonly status: number;
  /** UTF-8 text. */
  readonly body: string;
}

/** Statuses that may change by themselves: not there yet, busy, too many requests. */
const PASSING = new Set([404, 408, 409, 421, 423, 425, 429]);

/** What the answer of an HTTP probe means. */
export function judgeHttp(probe: HttpProbe, { status, body }: ProbeAnswer): Found {
  if (status >= 400 && status < 500 && !PASSING.has(status)) {
    return { kind: 'failed', reason: `HTTP status ${status}`, answer: null };
  }
  if (status < 200 || status >= 300) return { kind: 'pending', note: `HTTP status ${status}` };
  const json = isJson(body);
  const answer = json ? body : null;
  const needsJson = probe.ready !== null || probe.failed !== null;
  if (needsJson && !json) return { kind: 'pending', note: 'the answer is not JSON' };
  if (probe.failed !== null && holds(probe.failed, body)) {
    return { kind: 'failed', reason: `${probe.failed.pointer} is ${JSON.stringify(probe.failed.equals)}`, answer };
  }
  if (probe.ready === null || holds(probe.ready, body)) return { kind: 'ready', answer };
  return { kind: 'pending', note: `${probe.ready.pointer} is not ${JSON.stringify(probe.ready.equals)}` };
}

function holds({ pointer, equals }: Condition, body: string): boolean {
  const source = pointer === '' ? body : locate(body, parsePointer(pointer));
  if (source === null) return false;
  const value: unknown = JSON.parse(source);
  return value === equals;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** How a job of BigQuery stands. */
export type JobProgress =
  | { readonly state: 'absent' | 'running' }
  | { readonly state: 'done'; readonly statistics: Readonly<Record<string, string | number>> }
  | { readonly state: 'failed'; readonly reason: string; readonly message: string };

/** What the state of a job means. A job that is not there may be created yet. */
export function judgeJob(progress: JobProgress): Found {
  switch (progress.state) {
    case 'absent':
      return { kind: 'pending', note: 'there is no such job' };
    case 'running':
      return { kind: 'pending', note: 'the job runs' };
    case 'done':
      return { kind: 'ready', answer: JSON.stringify(progress.statistics) };
    case 'failed':
      return { kind: 'failed', reason: `${progress.reason}: ${progress.message}`, answer: null };
  }
}
