import type { PortCall } from '../fakes/gate.ts';
import type { Choices } from './choices.ts';

/** What becomes of one call of a port. Durations are virtual milliseconds. */
export type Fault =
  | { readonly kind: 'none' }
  /** It surely did not happen, and the caller is told so. */
  | { readonly kind: 'refused' }
  /** It happened; the caller is told that nobody knows. */
  | { readonly kind: 'answer lost' }
  | { readonly kind: 'crash before' }
  | { readonly kind: 'crash after' }
  /** It happens later, the caller waits. */
  | { readonly kind: 'stalled'; readonly ms: number }
  /** It happens at once, the caller waits. */
  | { readonly kind: 'answered late'; readonly ms: number }
  /** The caller is told at once that nobody knows, and it happens later. */
  | { readonly kind: 'happens later'; readonly ms: number };

export const NONE: Fault = { kind: 'none' };

/** A call of an instance, as a director of a simulation sees it. */
export interface Call extends PortCall {
  /** Place of the instance, from 0. */
  readonly instance: number;
  readonly entry: 'ingest' | 'finish' | 'sweep' | 'join';
  /** Number of the call in the whole run, from 0. */
  readonly index: number;
}

const READS = new Set(['get', 'read', 'due', 'now', 'created', 'state', 'wait', 'page']);

/** Whether the call changes anything. */
export function hasEffect(call: PortCall): boolean {
  return !READS.has(call.method);
}

/** Short hiccup, longer than an ack deadline, longer than a claim and than a lease of a join. */
const DELAYS = [3_000, 35_000, 95_000, 150_000];

/** Every fault that a call can meet. */
export function faultsOf(call: PortCall): readonly Fault[] {
  const delayed = (kind: 'stalled' | 'answered late' | 'happens later') => DELAYS.map((ms): Fault => ({ kind, ms }));
  const always: Fault[] = [{ kind: 'refused' }, { kind: 'crash before' }, ...delayed('stalled')];
  if (!hasEffect(call)) return always;
  return [
    ...always,
    { kind: 'answer lost' },
    { kind: 'crash after' },
    ...delayed('answered late'),
    ...delayed('happens later'),
  ];
}

/** No fault most of the time; `rate` is the chance of one. */
export function chooseFault(choices: Choices, call: PortCall, rate: number): Fault {
  const faults = faultsOf(call);
  const index = choices.pick([1 - rate, ...faults.map(() => rate / faults.length)]);
  return index === 0 ? NONE : faults[index - 1]!;
}
