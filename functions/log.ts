/** One structured line for Cloud Logging. Fields are identifiers and numbers, never a payload. */
export interface LogEntry {
  readonly severity: 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';
  /** Stable name of what happened, for filters and metrics: `ingest.dead_letter`, `start`. */
  readonly event: string;
  readonly message?: string;
  readonly [field: string]: unknown;
}

export type Log = (entry: LogEntry) => void;

const TRACE_ID = /^[0-9a-f]{32}$/;

/** Trace id (32 hexadecimal digits) from `traceparent` or `X-Cloud-Trace-Context`; null when there is none. */
export function traceOf(headers: Readonly<Record<string, string | undefined>>): string | null {
  const w3c = headers['traceparent']?.split('-')[1];
  if (w3c !== undefined && TRACE_ID.test(w3c)) return w3c;
  const google = headers['x-cloud-trace-context']?.split('/')[0]?.toLowerCase();
  return google !== undefined && TRACE_ID.test(google) ? google : null;
}

/** A log that adds the same fields to every line. */
export function withFields(log: Log, fields: Readonly<Record<string, unknown>>): Log {
  return (entry) => log({ ...fields, ...entry });
}

/** A log whose lines Cloud Logging shows under the request's trace. */
export function forRequest(log: Log, projectId: string, headers: Readonly<Record<string, string | undefined>>): Log {
  const trace = traceOf(headers);
  return trace === null
    ? log
    : withFields(log, { 'logging.googleapis.com/trace': `projects/${projectId}/traces/${trace}` });
}

/** The log that writes JSON lines through `write`. Errors among the fields appear with their code, message and stack. */
export function jsonLog(write: (line: string) => void): Log {
  return (entry) => {
    write(
      JSON.stringify(entry, (_name, value: unknown) => (value instanceof Error ? describeError(value) : value)) + '\n',
    );
  };
}

function describeError(error: Error): Record<string, unknown> {
  return {
    name: error.name,
    ...('code' in error ? { code: error.code } : {}),
    message: error.message,
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  };
}
