import { StatusError } from '../shared/faults.ts';
import { SqlError } from './sql/types.ts';

/** HTTP status and canonical status of every reason that this server answers. */
const REASONS: Record<string, readonly [http: number, status: string]> = {
  invalid: [400, 'INVALID_ARGUMENT'],
  invalidQuery: [400, 'INVALID_ARGUMENT'],
  bytesBilledLimitExceeded: [400, 'INVALID_ARGUMENT'],
  resourceInUse: [400, 'FAILED_PRECONDITION'],
  resourcesExceeded: [400, 'INVALID_ARGUMENT'],
  // A job that was cancelled or ran out of time; the error of its results.
  stopped: [499, 'CANCELLED'],
  timeout: [400, 'DEADLINE_EXCEEDED'],
  accessDenied: [403, 'PERMISSION_DENIED'],
  quotaExceeded: [403, 'RESOURCE_EXHAUSTED'],
  rateLimitExceeded: [403, 'RESOURCE_EXHAUSTED'],
  notFound: [404, 'NOT_FOUND'],
  duplicate: [409, 'ALREADY_EXISTS'],
  conditionNotMet: [412, 'FAILED_PRECONDITION'],
  requestTooLarge: [413, 'INVALID_ARGUMENT'],
  internalError: [500, 'INTERNAL'],
  notImplemented: [501, 'UNIMPLEMENTED'],
  backendError: [503, 'UNAVAILABLE'],
};

/** gRPC status code to the reason that the REST API gives for it. */
const BY_CODE: Record<number, string> = {
  3: 'invalid',
  5: 'notFound',
  6: 'duplicate',
  7: 'accessDenied',
  8: 'rateLimitExceeded',
  9: 'conditionNotMet',
  12: 'notImplemented',
  13: 'internalError',
};

/** Error as `status.errorResult` of a job carries it. */
export interface ErrorProto {
  readonly reason: string;
  readonly message: string;
  readonly location?: string;
}

/** A refusal with BigQuery's reason. */
export class BigQueryError extends Error {
  readonly reason: string;
  readonly location: string | undefined;
  constructor(reason: string, message: string, location?: string) {
    super(message);
    this.name = 'BigQueryError';
    this.reason = reason;
    this.location = location;
  }

  get httpStatus(): number {
    return REASONS[this.reason]?.[0] ?? 500;
  }

  toProto(): ErrorProto {
    return { reason: this.reason, message: this.message, ...(this.location && { location: this.location }) };
  }

  /** Body of the HTTP answer. */
  toBody(): object {
    return {
      error: {
        code: this.httpStatus,
        message: this.message,
        errors: [{ ...this.toProto(), domain: 'global' }],
        status: REASONS[this.reason]?.[1] ?? 'INTERNAL',
      },
    };
  }
}

export function notFound(kind: 'Dataset' | 'Table' | 'Job', name: string, location?: string): BigQueryError {
  return new BigQueryError(
    'notFound',
    `Not found: ${kind} ${name}${location ? ` was not found in location ${location}` : ''}`,
  );
}

export function invalid(message: string, location?: string): BigQueryError {
  return new BigQueryError('invalid', message, location);
}

/** Everything that can be thrown here, as BigQuery would say it. */
export function toBigQueryError(error: unknown): BigQueryError {
  if (error instanceof BigQueryError) return error;
  if (error instanceof SqlError) {
    return new BigQueryError(error.reason, error.message, error.reason === 'invalidQuery' ? 'query' : undefined);
  }
  if (error instanceof StatusError) return new BigQueryError(BY_CODE[error.code] ?? 'backendError', error.message);
  return new BigQueryError('internalError', error instanceof Error ? error.message : String(error));
}
