import { fromMs } from '../shared/wire.ts';
import type { CheckedTask } from './limits.ts';
import type { WireAttempt, WireTask } from './wire.ts';

/** One attempt. Epoch milliseconds. */
export interface Attempt {
  readonly scheduled: number;
  readonly dispatched: number;
  readonly responded?: number;
  /** HTTP status; 0 when no answer came. */
  readonly status?: number;
  readonly error?: string;
}

/** A task that is not done. Epoch milliseconds. */
export interface Task extends CheckedTask {
  readonly name: string;
  readonly created: number;
  /** When the next attempt is due. */
  scheduleTime: number;
  dispatchCount: number;
  responseCount: number;
  firstDispatch: number | null;
  last: Attempt | null;
  /** Attempts under way. */
  running: number;
}

export function newTask(name: string, checked: CheckedTask, now: number): Task {
  return {
    ...checked,
    name,
    created: now,
    dispatchCount: 0,
    responseCount: 0,
    firstDispatch: null,
    last: null,
    running: 0,
  };
}

/** gRPC status of an attempt's outcome, as tasks show it. */
function grpcStatus(status: number): number {
  const codes: Readonly<Record<number, number>> = {
    0: 14,
    400: 3,
    401: 16,
    403: 7,
    404: 5,
    409: 10,
    429: 8,
    499: 1,
    501: 12,
    503: 14,
    504: 4,
  };
  return codes[status] ?? (status >= 500 ? 13 : 2);
}

const time = (ms: number | null | undefined) => (ms === null || ms === undefined ? null : fromMs(ms));

const NO_ATTEMPT: WireAttempt = { scheduleTime: null, dispatchTime: null, responseTime: null, responseStatus: null };

function wireAttempt(attempt: Attempt): WireAttempt {
  const { status, error } = attempt;
  return {
    scheduleTime: time(attempt.scheduled),
    dispatchTime: time(attempt.dispatched),
    responseTime: time(attempt.responded),
    responseStatus:
      status === undefined ? null : { code: grpcStatus(status), message: error ?? `HTTP status code ${status}` },
  };
}

/** The task as a caller sees it; the basic view leaves the body out. */
export function wireTask(task: Task, view: string): WireTask {
  const full = view === 'FULL';
  return {
    name: task.name,
    httpRequest: full ? task.http : { ...task.http, body: Buffer.alloc(0) },
    scheduleTime: time(task.scheduleTime),
    createTime: time(Math.floor(task.created / 1000) * 1000),
    dispatchDeadline: time(task.deadline),
    dispatchCount: task.dispatchCount,
    responseCount: task.responseCount,
    firstAttempt: task.firstDispatch === null ? null : { ...NO_ATTEMPT, dispatchTime: time(task.firstDispatch) },
    lastAttempt: task.last === null ? null : wireAttempt(task.last),
    view: full ? 'FULL' : 'BASIC',
  };
}
