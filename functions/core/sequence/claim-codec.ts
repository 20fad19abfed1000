import type { SummaryRow } from '../event.ts';
import { Reader, Writer } from './bytes.ts';
import type { Claim } from './state.ts';

/** Packs a claim; its row in full, since another instance may have to write exactly the same. */
export function encodeClaim(claim: Claim): Uint8Array {
  const w = new Writer();
  const { row } = claim;
  w.count(claim.version);
  w.integer(claim.until);
  w.integer(row.generation);
  w.count(row.revision);
  w.flag(row.state === 'finished');
  w.flag(row.complete);
  w.optional(row.final_status, (status) => w.text(status));
  w.count(row.total_steps);
  w.integer(row.start_time);
  w.optional(row.finish_time, (time) => w.integer(time));
  w.integer(row.last_event_time);
  w.count(row.late_events);
  w.list(row.steps, (step) => {
    w.text(step.event_id);
    w.text(step.event_status);
    w.integer(step.event_time);
  });
  w.optional(row.fields, (fields) => w.text(fields));
  w.integer(row.written_at);
  return w.done();
}

export function decodeClaim(uniqueKey: string, bytes: Uint8Array): Claim {
  const r = new Reader(bytes);
  const version = r.count();
  const until = r.integer();
  const head = {
    unique_key: uniqueKey,
    generation: r.integer(),
    revision: r.count(),
    state: r.flag() ? ('finished' as const) : ('expired' as const),
    complete: r.flag(),
    final_status: r.optional(() => r.text()),
    total_steps: r.count(),
    start_time: r.integer(),
    finish_time: r.optional(() => r.integer()),
    last_event_time: r.integer(),
  };
  const row: SummaryRow = {
    ...head,
    duration_seconds: durationSeconds(head.start_time, head.finish_time),
    late_events: r.count(),
    steps: r.list(() => ({ event_id: r.text(), event_status: r.text(), event_time: r.integer() })),
    fields: r.optional(() => r.text()),
    written_at: r.integer(),
  };
  r.end();
  return { version, row, until };
}

/** From the earliest event to the latest completion event; null without one. */
export function durationSeconds(start: number, finish: number | null): number | null {
  return finish === null ? null : (finish - start) / 1e6;
}
