import type { BigQuery } from '@google-cloud/bigquery';
import { AmbiguousError, TransientError, toError } from '../core/errors.ts';
import type { JobProgress } from '../core/watch/judge.ts';
import type { BigQueryJobProbe } from '../core/watch/spec.ts';
import type { AdapterContext } from './runtime.ts';
import { withDeadline } from './status.ts';

interface JobResource {
  readonly status?: { readonly state?: string; readonly errorResult?: { readonly reason?: string; readonly message?: string } }; // prettier-ignore
  readonly statistics?: {
    readonly startTime?: string;
    readonly endTime?: string;
    readonly totalBytesProcessed?: string;
  };
}

const NOT_FOUND = 404;

/** Asks BigQuery how a job stands. */
export function createJobProbe({
  config,
}: Pick<AdapterContext, 'config'>): (probe: BigQueryJobProbe) => Promise<JobProgress> {
  let client: BigQuery | undefined;
  return async ({ jobId, project, location }) => {
    // Loaded with the first job that is looked at.
    client ??= (await import('./bigquery-client.ts')).createBigQuery(config);
    const job = client.job(jobId, { projectId: project ?? config.projectId, location: location ?? config.location });
    const what = `state of job ${jobId}`;
    try {
      const answer = await withDeadline(job.getMetadata(), config.portDeadline / 1000, what);
      return progress(answer[0] as JobResource);
    } catch (thrown) {
      const error = toError(thrown);
      if ('code' in error && Number(error.code) === NOT_FOUND) return { state: 'absent' };
      if (error instanceof AmbiguousError) throw error;
      // An operator cures it, and the watch waits until its timeout.
      if (isDenied(error)) throw new TransientError('unavailable', `${grant(project ?? config.projectId)} (${what}: ${error.message})`, error); // prettier-ignore
      throw new TransientError('unavailable', `${what}: ${error.message}`, error);
    }
  };
}

function isDenied(error: Error & { errors?: readonly { readonly reason?: string }[] }): boolean {
  return error.errors?.[0]?.reason === 'accessDenied';
}

function grant(project: string): string {
  return `poll needs bigquery.jobs.get on the project ${project}: add it to polling.job_projects of Terraform`;
}

function progress({ status, statistics = {} }: JobResource): JobProgress {
  if (status?.state !== 'DONE') return { state: 'running' };
  if (status.errorResult !== undefined) {
    const { reason = 'unknown', message = '' } = status.errorResult;
    return { state: 'failed', reason, message };
  }
  const { startTime, endTime, totalBytesProcessed } = statistics;
  return {
    state: 'done',
    statistics: {
      ...(startTime === undefined ? {} : { start_ms: Number(startTime) }),
      ...(endTime === undefined ? {} : { end_ms: Number(endTime) }),
      ...(totalBytesProcessed === undefined ? {} : { bytes_processed: Number(totalBytesProcessed) }),
    },
  };
}
