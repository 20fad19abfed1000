/**
 * Faults: one hook that every call of every local server passes through.
 * A test or a chaos run answers it with what should go wrong; nothing goes wrong by default.
 */

/** One call that arrived at a local server, before it has any effect. */
export interface Call {
  readonly service: 'pubsub' | 'firestore' | 'bigquery' | 'tasks' | 'scheduler';
  /** Method of the API, e.g. `Publish`, `Commit`, `AppendRows`, `jobs.insert`, `push`. */
  readonly method: string;
  /** What it acts on: topic, subscription, document path, table, job id or queue; '' when there is none. */
  readonly resource: string;
  /** How many calls of this service and method came before, from 0. */
  readonly n: number;
}

/** What goes wrong with a call. */
export type Fault =
  /** Fails before any effect. `code` is a gRPC status (default 14, UNAVAILABLE); HTTP servers map it. */
  | { readonly kind: 'refuse'; readonly code?: number; readonly message?: string }
  /** The effect happens; the caller gets an error instead of the answer. */
  | { readonly kind: 'lose_answer'; readonly code?: number }
  /** The call waits this long before it starts. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Deliveries only (push, pull, task dispatch): the same message is delivered once more. */
  | { readonly kind: 'deliver_twice' };

export type FaultHook = (call: Call) => Fault | undefined;

/** Error with a gRPC status code, understood by the gRPC and the HTTP servers. */
export class StatusError extends Error {
  readonly code: number;
  readonly details: string;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'StatusError';
    this.code = code;
    this.details = message;
  }
}

/** Counts the calls and applies the hook around an effect. */
export class Faults {
  readonly #hook: FaultHook;
  readonly #counts = new Map<string, number>();
  constructor(hook: FaultHook = () => undefined) {
    this.#hook = hook;
  }

  /** Asks the hook about one call. Use `around` unless the effect is a delivery or a stream. */
  next(service: Call['service'], method: string, resource = ''): Fault | undefined {
    const key = `${service}/${method}`;
    const n = this.#counts.get(key) ?? 0;
    this.#counts.set(key, n + 1);
    return this.#hook({ service, method, resource, n });
  }

  /** Runs `effect` under the fault that the hook names for this call. */
  async around<T>(
    service: Call['service'],
    method: string,
    resource: string,
    effect: () => T | Promise<T>,
  ): Promise<T> {
    const fault = this.next(service, method, resource);
    switch (fault?.kind) {
      case 'refuse':
        throw new StatusError(fault.code ?? 14, fault.message ?? `injected: ${method} refused`);
      case 'lose_answer':
        await effect();
        throw new StatusError(fault.code ?? 14, `injected: answer of ${method} lost`);
      case 'delay':
        await new Promise((resolve) => setTimeout(resolve, fault.ms));
        return effect();
      case 'deliver_twice':
      case undefined:
        return effect();
    }
  }
}
