import { finish, giveUp, update } from '../core/join/cursor.ts';
import { parts, type Days } from '../core/join/days.ts';
import { dollars } from '../core/join/price.ts';
import { countsSql, mergeSql, probeSql, type Reads } from '../core/join/sql.ts';
import { TransientError, toError } from '../core/errors.ts';
import type { JoinContext } from './context.ts';
import type { HeldCursor } from './cursor-document.ts';
import { publishRun } from './publish.ts';
import { currentRun, enter, execute, IncurableError } from './steps.ts';

/** Takes the run in progress to its end; the rows published. */
export async function processRun(context: JoinContext, held: HeldCursor): Promise<number> {
  const { join, log } = context;
  const runId = currentRun(held).id;
  try {
    const days = currentRun(held).days ?? (await probe(context, held));
    if (days.days.length > 0 || days.untimed) {
      await announceScan(context, held, days);
      await merge(context, held, days);
    }
  } catch (error) {
    if (!(error instanceof IncurableError)) throw error;
    // What was merged before the failure is in the ledger under this run's id and has to go out with it.
    if (currentRun(held).merged === 0) {
      await held.save((c) => giveUp(c, runId, join.step));
      throw error;
    }
    log({ severity: 'WARNING', event: 'join.abandoned', message: error.message });
    await held.save((c) => update(c, runId, { abandoned: true }));
  }
  const run = currentRun(held);
  const published = run.merged > 0 ? await publishRun(context, held) : 0;
  if (currentRun(held).abandoned) {
    await held.save((c) => giveUp(c, runId, join.step));
    throw new IncurableError('merge', 'abandoned', 'a part of the window could not be merged');
  }
  const counts = await count(context, held);
  await held.save((c) => finish(c, runId));
  log({
    severity: 'INFO',
    event: 'join.window',
    runId,
    start: startOf(run.reads),
    end: run.reads.kind === 'range' ? run.reads.to : run.reads.end,
    published,
    ...counts,
  });
  return published;
}

function startOf(reads: Reads): number {
  return reads.kind === 'window' ? reads.start : reads.from;
}

/** Finds the event days of the window; they are saved before anything uses them, so a resume never asks again. */
async function probe(context: JoinContext, held: HeldCursor): Promise<Days> {
  const run = currentRun(held);
  const job = await execute(context, held, 'probe', probeSql(context.join, context.tables, run.reads));
  const days: number[] = [];
  let untimed = false;
  let token: string | null = null;
  do {
    const page = await context.ports.warehouse.page(job.jobId, token, 10_000);
    if (page === null) throw new IncurableError('probe', 'expired', 'its result has expired');
    for (const { day } of page.rows) {
      if (day == null) untimed = true;
      else days.push(Number(day));
    }
    token = page.next;
  } while (token !== null);
  const found = { days, untimed };
  await held.save((c) => update(c, run.id, { days: found, step: 'merge-0', attempt: 1 }));
  return found;
}

/** Says what a scan will cost before it is made. Only for the log: its failure changes nothing. */
async function announceScan({ join, log, ports, tables }: JoinContext, held: HeldCursor, days: Days): Promise<void> {
  const { id, merged, reads, daysPerMerge } = currentRun(held);
  if (reads.kind !== 'scan' || merged > 0) return;
  let bytes: number | null = 0;
  try {
    for (const part of parts(days, daysPerMerge))
      bytes += await ports.warehouse.estimate(mergeSql(join, tables, reads, part, id));
  } catch (error) {
    log({ severity: 'WARNING', event: 'join.estimate_failed', message: toError(error).message });
    bytes = null;
  }
  log({
    severity: 'ERROR',
    event: 'join.scan',
    message:
      'the cursor has left time travel: the source is scanned once by arrival time against the ledger' +
      (bytes === null ? '' : `; ${days.days.length} days of it, ${bytes} bytes, about ${dollars(bytes)}`),
    from: reads.from,
    end: reads.end,
    days: days.days.length,
    bytes,
    dollars: bytes === null ? null : dollars(bytes),
  });
}

async function merge(context: JoinContext, held: HeldCursor, days: Days): Promise<void> {
  const run = currentRun(held);
  if (run.abandoned) return;
  for (const [i, part] of parts(days, run.daysPerMerge).entries()) {
    if (i < currentRun(held).merged) continue;
    await enter(held, `merge-${i}`);
    await execute(context, held, `merge-${i}`, mergeSql(context.join, context.tables, run.reads, part, run.id));
    await held.save((c) => update(c, run.id, { merged: i + 1 }));
  }
}

/** Counts what became of the identities that are new since the last window. Only for the log: its failure changes nothing. */
async function count(context: JoinContext, held: HeldCursor): Promise<Record<string, number>> {
  const { reads, days, previous } = currentRun(held);
  if (days === null || (days.days.length === 0 && !days.untimed) || reads.kind === 'scan') return {};
  const fresh: Reads =
    reads.kind === 'window' ? { ...reads, start: Math.max(reads.start, previous ?? reads.start) } : reads;
  try {
    await enter(held, 'counts');
    const job = await execute(context, held, 'counts', countsSql(context.join, context.tables, fresh, days));
    const row = (await context.ports.warehouse.page(job.jobId, null, 1))?.rows[0] ?? {};
    return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]));
  } catch (error) {
    if (error instanceof TransientError && error.code === 'lease_lost') throw error;
    context.log({ severity: 'WARNING', event: 'join.counts_failed', message: toError(error).message });
    return {};
  }
}
