import type { Faults } from '../shared/faults.ts';
import type { HttpSender, OutgoingRequest, Outcome } from '../shared/http-out.ts';
import type { Meter } from '../shared/meter.ts';
import { bearer } from '../shared/oidc.ts';
import type { Time } from '../shared/time.ts';
import { methodOf } from './limits.ts';
import type { Task } from './task.ts';
import { queueOf, shortName } from './wire.ts';

export interface DispatchEnv {
  readonly time: Time;
  readonly sender: HttpSender;
  readonly faults: Faults;
  readonly meter: Meter;
  /** Where a queue (by its short name) sends its tasks whatever their URL says; undefined: to their URL. */
  readonly override?: (queue: string) => string | undefined;
}

/** What the headers tell about the attempts before this one. */
export interface History {
  readonly retries: number;
  readonly responses: number;
  readonly previous: number | null;
  /** When the task was due, epoch milliseconds. */
  readonly eta: number;
}

const missed = (error: string): Outcome => ({ status: 0, body: '', error });

export const succeeded = ({ status }: Outcome): boolean => status >= 200 && status < 300;

/** Operations are billed in pieces of so many bytes. */
const CHUNK = 32 * 1024;

export const operations = (bytes: number): number => Math.max(1, Math.ceil(bytes / CHUNK));

/** One request of a task, under the faults of the method `dispatch`. */
export async function attempt(env: DispatchEnv, task: Task, history: History): Promise<Outcome> {
  const { faults, meter, sender, time } = env;
  const url = env.override?.(shortName(queueOf(task.name))) ?? task.http.url;
  const fault = faults.next('tasks', 'dispatch', queueOf(task.name));
  meter.add('tasks.operations', operations(task.http.body.length));
  if (fault?.kind === 'refuse') return missed(fault.message ?? 'injected: attempt lost');
  if (fault?.kind === 'delay') await new Promise<void>((resolve) => void time.setTimeout(resolve, fault.ms));
  const request = requestOf(task, url, history, time.now());
  const repeat = fault?.kind === 'deliver_twice' ? sender.send(request) : undefined;
  const outcome = await sender.send(request);
  await repeat;
  return fault?.kind === 'lose_answer' ? missed('injected: answer of the attempt lost') : outcome;
}

/** Headers that belong to Google or follow from the request. */
const RESERVED = /^(host|content-length|user-agent|x-google-.*|x-appengine-.*|x-cloudtasks-.*)$/i;

function requestOf(task: Task, url: string, history: History, now: number): OutgoingRequest {
  const { http, name, deadline } = task;
  const given = Object.entries(http.headers).filter(([header]) => !RESERVED.test(header));
  const { previous } = history;
  return {
    url,
    method: methodOf(http),
    body: http.body.length > 0 ? http.body : undefined,
    deadline,
    headers: {
      ...Object.fromEntries(given.map(([header, value]) => [header.toLowerCase(), value])),
      'user-agent': 'Google-Cloud-Tasks',
      'x-cloudtasks-queuename': shortName(queueOf(name)),
      'x-cloudtasks-taskname': shortName(name),
      'x-cloudtasks-taskretrycount': String(history.retries),
      'x-cloudtasks-taskexecutioncount': String(history.responses),
      'x-cloudtasks-tasketa': (history.eta / 1000).toFixed(6),
      ...(previous === null
        ? {}
        : { 'x-cloudtasks-taskpreviousresponse': String(previous), 'x-cloudtasks-taskretryreason': reason(previous) }),
      ...(http.oidcToken ? { authorization: bearer(http.oidcToken, url, now) } : {}),
    },
  };
}

const reason = (status: number): string => (status === 0 ? 'NO_RESPONSE' : `HTTP status code ${status}`);
