/** One call of a port, as a test sees it. */
export interface PortCall {
  readonly port: 'store' | 'bus' | 'events' | 'summaries' | 'warehouse' | 'tasks';
  readonly method: string;
  /** What it acts on: paths, topic, job id. */
  readonly resource: string;
}

/**
 * Every call of every fake goes through a gate, before its effect and after it. A gate that rejects `before` prevents
 * the effect; one that rejects `after` loses the answer; one that never resolves is an instance that crashed there.
 */
export interface Gate {
  before(call: PortCall): Promise<void>;
  after(call: PortCall): Promise<void>;
}

export const OPEN: Gate = { before: async () => undefined, after: async () => undefined };

/** Runs an effect between the two sides of a gate. */
export async function through<T>(gate: Gate, call: PortCall, effect: () => T): Promise<T> {
  await gate.before(call);
  const result = effect();
  await gate.after(call);
  return result;
}
