/**
 * The three kinds of failure. The kind decides what happens to the message that failed:
 *
 * - permanent: it can never succeed; dead letter, then acknowledge;
 * - transient: it may succeed later; do not acknowledge;
 * - ambiguous: the effect may have happened; verify it, or repeat it idempotently.
 */
export abstract class CodaflowError extends Error {
  /** Stable code, listed in docs/errors.md. */
  readonly code: string;
  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
  }
}

/** Codes of messages that can never succeed. Each has an entry in docs/errors.md. */
export const PERMANENT_CODES = [
  'empty_data',
  'invalid_utf8',
  'invalid_unicode',
  'invalid_json',
  'not_an_object',
  'duplicate_member',
  'missing_field',
  'missing_key',
  'missing_event_id',
  'wrong_type',
  'invalid_timestamp',
  'timestamp_out_of_range',
  'too_large',
  'too_deep',
  'unsupported_encoding',
  'event_id_conflict',
  'row_refused',
  'statement_refused',
  'message_refused',
  'invalid_push',
  'delivery_attempts_exhausted',
  'result_too_large',
  'invalid_watch',
  'watch_conflict',
] as const;
export type PermanentCode = (typeof PERMANENT_CODES)[number];

export class PermanentError extends CodaflowError {
  declare readonly code: PermanentCode;
  constructor(code: PermanentCode, message: string, cause?: unknown) {
    super(code, message, cause);
  }
}

/** Codes of failures that a later attempt may cure. */
export const TRANSIENT_CODES = [
  'contention',
  'unavailable',
  'deadline_exceeded',
  'overloaded',
  'schema_mismatch',
  'lease_lost',
  'not_ready',
  'blocked',
  'unreadable_state',
] as const;
export type TransientCode = (typeof TRANSIENT_CODES)[number];

export class TransientError extends CodaflowError {
  declare readonly code: TransientCode;
  constructor(code: TransientCode, message: string, cause?: unknown) {
    super(code, message, cause);
  }
}

/** A call whose effect may have happened: its answer was lost or its deadline passed. */
export class AmbiguousError extends CodaflowError {
  constructor(message: string, cause?: unknown) {
    super('ambiguous', message, cause);
  }
}

/** Turns anything thrown into an Error, for the edges where foreign code throws foreign things. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
