import type { HttpRequest } from '../http/handler.ts';

/** Who sent a request: a task of Cloud Tasks, or anybody else who may call the function. */
export interface Caller {
  readonly task: { readonly queue: string; readonly name: string; /** From 1. */ readonly attempt: number } | null;
  /** Attribute `origin` of the dead letters. */
  readonly origin: string;
}

const NAME = /^[\w-]{1,500}$/;

/** Cloud Tasks sets these headers itself and removes them from what others put into a task. */
export function callerOf(headers: HttpRequest['headers']): Caller {
  const name = headers['x-cloudtasks-taskname'] ?? '';
  if (!NAME.test(name)) return { task: null, origin: 'submit' };
  const queue = headers['x-cloudtasks-queuename'] ?? '';
  // Every failed attempt counts, whether the function answered or not.
  const retries = Number(headers['x-cloudtasks-taskretrycount']);
  const attempt = Number.isSafeInteger(retries) && retries >= 0 ? retries + 1 : 1;
  return { task: { queue, name, attempt }, origin: `submit/${queue}/${name}` };
}
