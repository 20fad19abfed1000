import { resultMessage, tooLarge, type LedgerRow } from '../core/join/message.ts';
import { update } from '../core/join/cursor.ts';
import { PermanentError, TransientError } from '../core/errors.ts';
import { readSql } from '../core/join/sql.ts';
import type { Message } from '../ports.ts';
import type { JoinContext } from './context.ts';
import type { HeldCursor } from './cursor-document.ts';
import { currentRun, enter, execute } from './steps.ts';

/** Publishes the rows of the run in progress, in the order of their ids, and saves the progress after every page. */
export async function publishRun(context: JoinContext, held: HeldCursor): Promise<number> {
  const { config, join, ports, tables } = context;
  await enter(held, 'read');
  const days = currentRun(held).days!;
  for (;;) {
    const run = currentRun(held);
    const statement = readSql(tables, join.name, run.id, days, run.published);
    const job = await execute(context, held, 'read', statement);
    let token: string | null = null;
    let expired = false;
    do {
      const page = await ports.warehouse.page(job.jobId, token, config.joinPage);
      if (page === null) {
        expired = true;
        break;
      }
      // A resumed job begins before what was published already.
      const rows = (page.rows as unknown as LedgerRow[]).filter((row) => row.result_id > currentRun(held).published);
      if (rows.length > 0) {
        await publishPage(context, rows);
        const { count } = currentRun(held);
        await held.save((c) => update(c, run.id, { published: rows.at(-1)!.result_id, count: count + rows.length }));
      }
      token = page.next;
    } while (token !== null);
    if (!expired) return currentRun(held).count;
    const { attempt } = currentRun(held);
    await held.save((c) => update(c, run.id, { step: 'read', attempt: attempt + 1 }));
  }
}

async function publishPage(context: JoinContext, rows: readonly LedgerRow[]): Promise<void> {
  const { join, log } = context;
  const messages: Message[] = [];
  const refused: { row: LedgerRow; reason: string }[] = [];
  const published: LedgerRow[] = [];
  for (const row of rows) {
    const message = resultMessage(join, row);
    const reason = tooLarge(message);
    if (reason !== null) refused.push({ row, reason });
    else {
      messages.push(message);
      published.push(row);
    }
  }
  const outcomes = messages.length === 0 ? [] : await context.ports.bus.publish({ name: join.topic }, messages);
  let failure: Error | null = null;
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome instanceof PermanentError) refused.push({ row: published[i]!, reason: outcome.message });
    else if (outcome instanceof Error) failure = outcome;
  }
  if (failure !== null)
    throw new TransientError('unavailable', 'not every row of the page could be published', failure);
  if (refused.length === 0) return;
  const letters = refused.map(({ row, reason }) => deadLetter(context, row, reason));
  for (const outcome of await context.ports.bus.publish('deadLetters', letters)) {
    if (outcome instanceof Error)
      throw new TransientError('unavailable', 'a dead letter could not be published', outcome);
  }
  for (const { row, reason } of refused) {
    log({
      severity: 'ERROR',
      event: 'join.dead_letter',
      code: 'result_too_large',
      resultId: row.result_id,
      message: reason,
    });
  }
}

/** The row itself stays in the ledger; the dead letter says where. */
function deadLetter(context: JoinContext, row: LedgerRow, reason: string): Message {
  return {
    data: JSON.stringify({ table: context.tables.ledger, join_name: context.join.name, ...row, message: undefined }),
    attributes: {
      reason: 'result_too_large',
      hint: reason.slice(0, 200),
      result_id: row.result_id,
      join: context.join.name,
      origin: 'join',
    },
  };
}
