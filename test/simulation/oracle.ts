import { timeOf } from './messages.ts';
import { CODAS, type PlannedEvent } from './plan.ts';

/** What a summary must say about a set of events. */
export interface Expected {
  readonly state: 'finished' | 'expired';
  readonly complete: boolean;
  readonly final_status: string | null;
  readonly total_steps: number;
  readonly start_time: number;
  readonly finish_time: number | null;
  readonly last_event_time: number;
  readonly duration_seconds: number | null;
  readonly steps: readonly { readonly event_id: string; readonly event_status: string; readonly event_time: number }[];
  readonly fields: unknown;
}

/** By time, then by id; the simulated ids are ASCII. */
function inOrder(a: PlannedEvent, b: PlannedEvent): number {
  return timeOf(a) - timeOf(b) || (a.id < b.id ? -1 : 1);
}

/** The fold over a set of events of one key, straight from the words of the documentation. */
export function foldOf(set: readonly PlannedEvent[], stepsKept: number): Expected {
  const events = set.toSorted(inOrder);
  const times = events.map(timeOf);
  const codas = events.filter(({ status }) => CODAS.includes(status));
  const coda = codas.at(-1);
  const finish = coda === undefined ? null : timeOf(coda);
  return {
    state: coda === undefined ? 'expired' : 'finished',
    complete: isWhole(events, codas),
    final_status: coda?.status ?? null,
    total_steps: events.length,
    start_time: times[0]!,
    finish_time: finish,
    last_event_time: times.at(-1)!,
    duration_seconds: finish === null ? null : (finish - times[0]!) / 1e6,
    steps: events.slice(0, stepsKept).map((event) => ({
      event_id: event.id,
      event_status: event.status,
      event_time: timeOf(event),
    })),
    fields: fieldsOf(events),
  };
}

/** A completion event is there, and so is every number up to the largest total that one of them announces. */
function isWhole(events: readonly PlannedEvent[], codas: readonly PlannedEvent[]): boolean {
  if (codas.length === 0) return false;
  const numbersOf = (some: readonly PlannedEvent[]) => some.flatMap(({ sequence }) => sequence ?? []);
  const numbers = new Set(numbersOf(events));
  const announced = numbersOf(codas);
  const total = Math.max(0, ...(announced.length > 0 ? announced : numbers));
  return numbers.size === total && [...numbers].every((n) => n <= total);
}

function fieldsOf(events: readonly PlannedEvent[]): unknown {
  const amounts = events.flatMap(({ amount }) => amount ?? []);
  if (amounts.length === 0) return {};
  const sum = amounts.reduce((a, b) => a + b, 0);
  const [min, max] = [Math.min(...amounts), Math.max(...amounts)];
  return {
    '/amount': { count: amounts.length, sum, min, max, first: amounts[0], last: amounts.at(-1), skipped: 0 },
  };
}
