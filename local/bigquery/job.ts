import type { Cell } from './cells.ts';
import type { DmlStats, Outcome, Statement } from './engine.ts';
import { toBigQueryError, type ErrorProto } from './errors.ts';
import { millis } from './resources.ts';
import type { Compiled, Field } from './sql/types.ts';
import type { Micros } from './types.ts';

export interface JobReference {
  readonly project: string;
  readonly id: string;
  readonly location: string;
}

/** Everything of a job that survives a restart. */
export interface JobRecord {
  readonly reference: JobReference;
  /** REST `configuration`, as it came. */
  readonly configuration: Record<string, unknown>;
  readonly kind?: Compiled['kind'];
  readonly created: Micros;
  readonly ended?: Micros;
  readonly error?: ErrorProto;
  readonly bytes?: Outcome['bytes'];
  readonly dml?: DmlStats;
  readonly result?: { readonly fields: readonly Field[]; readonly rows: readonly Cell[][] };
}

export class Job {
  record: JobRecord;
  readonly statement: Statement;
  readonly abort = new AbortController();
  /** Settles when the job is DONE; never rejects. */
  done: Promise<void> = Promise.resolve();

  constructor(record: JobRecord, statement: Statement) {
    this.record = record;
    this.statement = statement;
  }

  get isDone(): boolean {
    return this.record.ended !== undefined;
  }

  succeed(outcome: Outcome, ended: Micros): JobRecord {
    const { fields, rows, bytes, dml } = outcome;
    return { ...this.record, ended, bytes, ...(dml && { dml }), result: { fields, rows } };
  }

  fail(error: unknown, ended: Micros): JobRecord {
    return { ...this.record, ended, error: toBigQueryError(error).toProto() };
  }
}

export function dmlResource(dml: DmlStats): Record<string, unknown> {
  return {
    numDmlAffectedRows: String(dml.inserted + dml.updated + dml.deleted),
    dmlStats: {
      insertedRowCount: String(dml.inserted),
      updatedRowCount: String(dml.updated),
      deletedRowCount: String(dml.deleted),
    },
  };
}

/** The job in the shape of the REST API. */
export function jobResource(record: JobRecord): Record<string, unknown> {
  const { project, id, location } = record.reference;
  const { bytes, dml, error, ended } = record;
  const total = bytes && { totalBytesProcessed: String(bytes.processed) };
  return {
    kind: 'bigquery#job',
    id: `${project}:${location}.${id}`,
    selfLink: `/bigquery/v2/projects/${project}/jobs/${id}?location=${location}`,
    user_email: 'local@localhost',
    jobReference: { projectId: project, jobId: id, location },
    configuration: { ...record.configuration, jobType: 'QUERY' },
    status: {
      state: ended === undefined ? 'RUNNING' : 'DONE',
      ...(error && { errorResult: error, errors: [error] }),
    },
    statistics: {
      creationTime: millis(record.created),
      startTime: millis(record.created),
      ...(ended !== undefined && { endTime: millis(ended) }),
      ...total,
      query: {
        ...total,
        ...(bytes && { totalBytesBilled: String(bytes.billed) }),
        cacheHit: false,
        ...(record.kind && { statementType: record.kind.toUpperCase() }),
        ...(dml && dmlResource(dml)),
      },
    },
  };
}
