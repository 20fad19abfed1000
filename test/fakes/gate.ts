/** One call of a port, as a test sees it. */
export interface PortCall {
  readonly port: 'store' | 'bus' | 'events' | 'summaries' | 'warehouse' | 'tasks' | 'probes' | 'queue';
  readonly method: string;
  /** What it acts on: paths, topic, job id. */
  readonly resource: string;
  /** Of a call that consists of several, which may have fates of their own. */
  readonly parts?: number;
}

/**
 * Every call of every fake goes through a gate, before its effect and after it. A gate that rejects `before` prevents
 * the effect; one that rejects `after` loses the answer; one that never resolves is an instance that crashed there.
 */
export interface Gate {
  before(call: PortCall): Promise<void>;
  after(call: PortCall): Promise<void>;
  /** Takes the whole call into its hands, instead of `before` and `after`: when the effect happens, and what is told. */
  run?<T>(call: PortCall, effect: (part?: Part) => T): Promise<T>;
}

export const OPEN: Gate = { before: async () => undefined, after: async () => undefined };

/** The half of the parts of a call that happens; the caller is told that nobody knows about the others. */
export type Part = 'first' | 'last';

/** Runs an effect between the two sides of a gate. */
export async function through<T>(gate: Gate, call: PortCall, effect: (part?: Part) => T): Promise<T> {
  if (gate.run !== undefined) return gate.run(call, effect);
  await gate.before(call);
  const result = effect();
  await gate.after(call);
  return result;
}
