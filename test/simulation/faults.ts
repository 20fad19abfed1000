import type { Part, PortCall } from '../fakes/gate.ts';
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
  | { readonly kind: 'happens later'; readonly ms: number }
  /** It never happens; the caller is told that nobody knows. */
  | { readonly kind: 'never arrived' }
  /** Half of a batch happens; the caller is told that nobody knows about the rest. */
  | { readonly kind: 'partly'; readonly part: Part }
  /** A task that was accepted never fires. */
  | { readonly kind: 'lost' }
  /** A task fires, and again later. */
  | { readonly kind: 'twice'; readonly ms: number };

export const NONE: Fault = { kind: 'none' };

/** A call of an instance, or a task that fires, as a director of a simulation sees it. */
export interface Call extends PortCall {
  /** Place of the instance, from 0; -1 of a task that fires. */
  readonly instance: number;
  readonly entry: 'ingest' | 'finish' | 'sweep' | 'join' | 'submit' | 'poll';
  /** Number of the call in the whole run, from 0. */
  readonly index: number;
}

const READS = new Set(['get', 'read', 'due', 'now', 'created', 'state', 'wait', 'page', 'http', 'job']);

/** Whether the call changes anything. */
export function hasEffect(call: Pick<PortCall, 'method'>): boolean {
  return !READS.has(call.method);
}

/** Short hiccup, longer than an ack deadline, longer than a claim and than a lease of a join. */
const DELAYS = [3_000, 35_000, 95_000, 150_000];

/** Short hiccup, longer than the slack of a watch, longer than its task's name is taken. */
const FIRES_LATE = [3_000, 150_000, 7_200_000];

/** Every fault that a call can meet. */
export function faultsOf(call: Pick<Call, 'port' | 'method' | 'entry' | 'parts'>): readonly Fault[] {
  if (call.port === 'queue') {
    const late = FIRES_LATE.flatMap((ms): Fault[] => [
      { kind: 'stalled', ms },
      { kind: 'twice', ms },
    ]);
    // Whoever fills a queue of their own must know when they lose a task: nothing was accepted yet.
    return call.entry === 'poll' ? [{ kind: 'lost' }, { kind: 'twice', ms: 0 }, ...late] : [{ kind: 'twice', ms: 0 }, ...late]; // prettier-ignore
  }
  const delayed = (kind: 'stalled' | 'answered late' | 'happens later') => DELAYS.map((ms): Fault => ({ kind, ms }));
  const always: Fault[] = [{ kind: 'refused' }, { kind: 'crash before' }, ...delayed('stalled')];
  if (!hasEffect(call)) return [...always, { kind: 'answer lost' }, ...delayed('answered late')];
  if ((call.parts ?? 1) > 1) always.push({ kind: 'partly', part: 'first' }, { kind: 'partly', part: 'last' });
  return [
    ...always,
    { kind: 'answer lost' },
    { kind: 'crash after' },
    ...delayed('answered late'),
    ...delayed('happens later'),
    { kind: 'never arrived' },
  ];
}

/** No fault most of the time; `rate` is the chance of one. */
export function chooseFault(choices: Choices, call: Call, rate: number): Fault {
  const faults = faultsOf(call);
  const index = choices.pick([1 - rate, ...faults.map(() => rate / faults.length)]);
  return index === 0 ? NONE : faults[index - 1]!;
}
