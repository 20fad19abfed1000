import { keyAttributes, summaryId } from '../ids.ts';
import type { Micros, SummaryRow } from '../event.ts';
import { formatMicros } from '../time.ts';
import { describeAggregate } from './aggregate.ts';
import { durationSeconds } from './claim-codec.ts';
import { isComplete, type Fold } from './fold.ts';
import type { Rules } from './rules.ts';
import type { State } from './state.ts';

/** The summary of everything that the state holds, as revision `revision` of its key. */
export function summarise(state: State, revision: number, now: Micros, rules: Rules): SummaryRow {
  const { fold } = state;
  const coda = fold.coda;
  return {
    unique_key: state.uniqueKey,
    generation: state.generation,
    revision,
    state: coda === null ? 'expired' : 'finished',
    complete: isComplete(fold),
    final_status: coda?.status ?? null,
    total_steps: fold.count,
    start_time: fold.firstTime,
    finish_time: coda?.time ?? null,
    last_event_time: fold.lastTime,
    duration_seconds: durationSeconds(fold.firstTime, coda?.time ?? null),
    late_events: state.firstConfirmed === 0 ? 0 : fold.count - state.firstConfirmed,
    steps: fold.steps.kept.map(({ eventId, status, time }) => ({
      event_id: eventId,
      event_status: status,
      event_time: time,
    })),
    fields: describeFields(fold, rules),
    written_at: now,
  };
}

/** JSON object of the configured members that were seen, in configured order; null when none is configured. */
function describeFields(fold: Fold, rules: Rules): string | null {
  if (rules.pointers.length === 0) return null;
  const members = rules.pointers.flatMap(({ text }) => {
    const value = fold.fields.get(text);
    return value === undefined ? [] : [`${JSON.stringify(text)}:${describeAggregate(value)}`];
  });
  return `{${members.join(',')}}`;
}

/** The message of a summary: the row's columns as JSON, times as RFC 3339 with microseconds. */
export function summaryMessage(row: SummaryRow): { data: string; attributes: Record<string, string> } {
  const body = {
    ...row,
    start_time: formatMicros(row.start_time),
    finish_time: row.finish_time === null ? null : formatMicros(row.finish_time),
    last_event_time: formatMicros(row.last_event_time),
    steps: row.steps.map((step) => ({ ...step, event_time: formatMicros(step.event_time) })),
    written_at: formatMicros(row.written_at),
  };
  return {
    data: JSON.stringify(body),
    attributes: {
      id: summaryId(row.unique_key, row.generation, row.revision),
      ...keyAttributes(row.unique_key),
      generation: String(row.generation),
      revision: String(row.revision),
      state: row.state,
    },
  };
}
