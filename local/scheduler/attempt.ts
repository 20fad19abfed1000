import type { Faults } from '../shared/faults.ts';
import type { HttpSender, OutgoingRequest, Outcome } from '../shared/http-out.ts';
import type { Meter } from '../shared/meter.ts';
import { bearer } from '../shared/oidc.ts';
import type { Time } from '../shared/time.ts';
import type { Definition } from './definition.ts';

export interface SchedulerEnv {
  readonly time: Time;
  readonly sender: HttpSender;
  readonly faults: Faults;
  readonly meter: Meter;
}

const missed = (error: string): Outcome => ({ status: 0, body: '', error });

export const succeeded = ({ status }: Outcome): boolean => status >= 200 && status < 300;

/** One request of a job for the moment `scheduled` (epoch milliseconds), under the faults of the method `run`. */
export async function attempt(env: SchedulerEnv, job: Definition, scheduled: number): Promise<Outcome> {
  const { faults, meter, sender, time } = env;
  const fault = faults.next('scheduler', 'run', shortName(job.name));
  if (fault?.kind === 'refuse') return missed(fault.message ?? 'injected: run refused');
  if (fault?.kind === 'delay') await new Promise<void>((resolve) => void time.setTimeout(resolve, fault.ms));
  meter.add('scheduler.attempts');
  const request = requestOf(job, scheduled, time.now());
  const repeat = fault?.kind === 'deliver_twice' ? sender.send(request) : undefined;
  const outcome = await sender.send(request);
  await repeat;
  return fault?.kind === 'lose_answer' ? missed('injected: answer of run lost') : outcome;
}

function requestOf(job: Definition, scheduled: number, now: number): OutgoingRequest {
  const { uri, httpMethod = 'POST', headers, body, oidcToken } = job.httpTarget;
  const given = Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    url: uri,
    method: httpMethod,
    body,
    deadline: job.attemptDeadlineMs,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/octet-stream' }),
      ...given,
      'user-agent': 'Google-Cloud-Scheduler',
      'x-cloudscheduler': 'true',
      'x-cloudscheduler-jobname': shortName(job.name),
      'x-cloudscheduler-scheduletime': new Date(scheduled).toISOString(),
      ...(oidcToken ? { authorization: bearer(oidcToken, uri, now) } : {}),
    },
  };
}

/** `projects/P/locations/L/jobs/J` to `J`. */
export const shortName = (name: string): string => name.slice(name.lastIndexOf('/') + 1);
