import type { Log } from '../log.ts';

/** What a function sees of an HTTP request. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  /** What follows the `?`, still encoded. */
  readonly query?: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Parsed when the content type is JSON. */
  readonly body: unknown;
  readonly rawBody: Uint8Array | null;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: string | object;
}

/**
 * One function. `log` carries the request's trace. What it throws is logged and answered 500.
 *
 * An entry module (ingest.ts, finish.ts, ...) exports
 * - `uses`: the ports it touches, `as const`; only their clients are loaded;
 * - `create(runtime: Runtime<(typeof uses)[number]>): Handler`, called once per instance.
 */
export type Handler = (request: HttpRequest, log: Log) => Promise<HttpAnswer>;
