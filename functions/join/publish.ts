import { resultMessage, tooLarge, type LedgerRow } from '../core/join/message.ts';
import { update } from '../core/join/cursor.ts';
import { PermanentError, TransientError, type PermanentCode } from '../core/errors.ts';
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
        await publishPage(context, held, rows);
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

interface Refused {
  readonly row: LedgerRow;
  readonly code: PermanentCode;
  readonly reason: string;
}

/** Tries of a page; a later one publishes only what is not confirmed yet, so a refusal repeats nothing. */
const TRIES = 3;

async function publishPage(context: JoinContext, held: HeldCursor, rows: readonly LedgerRow[]): Promise<void> {
  const { join, log, ports, tables } = context;
  const refused: Refused[] = [];
  let pending: { row: LedgerRow; message: Message }[] = [];
  for (const row of rows) {
    const message = resultMessage(join, row);
    const reason = tooLarge(message);
    if (reason === null) pending.push({ row, message });
    else refused.push({ row, code: 'result_too_large', reason });
  }
  for (let tried = 1; pending.length > 0; tried++) {
    const outcomes = await ports.bus.publish(
      { name: join.topic },
      pending.map(({ message }) => message),
    );
    for (const [i, outcome] of outcomes.entries())
      if (outcome instanceof PermanentError)
        refused.push({ row: pending[i]!.row, code: outcome.code, reason: outcome.message });
    const failed = [...outcomes.keys()].filter((i) => isPassing(outcomes[i]!));
    if (failed.length === 0) break;
    if (tried === TRIES)
      throw new TransientError('unavailable', 'not every row of the page could be published', outcomes[failed[0]!]);
    await ports.clock.sleep(250 * 4 ** tried);
    await held.save();
    pending = failed.map((i) => pending[i]!);
  }
  if (refused.length === 0) return;
  const letters = refused.map((one) => deadLetter(join.name, tables.ledger, one));
  for (const outcome of await ports.bus.publish('deadLetters', letters)) {
    if (outcome instanceof Error)
      throw new TransientError('unavailable', 'a dead letter could not be published', outcome);
  }
  for (const { row, code, reason } of refused)
    log({ severity: 'ERROR', event: 'join.dead_letter', resultId: row.result_id, code, message: reason });
}

const isPassing = (outcome: string | Error): boolean =>
  outcome instanceof Error && !(outcome instanceof PermanentError);

/** The row itself stays in the ledger; the dead letter says where. */
function deadLetter(join: string, ledger: string, { row: refused, code, reason }: Refused): Message {
  const { message: _, ...row } = refused;
  return {
    data: JSON.stringify({ table: ledger, join_name: join, ...row }),
    attributes: {
      reason: code,
      hint: reason.slice(0, 200),
      result_id: row.result_id,
      join,
      origin: 'join',
    },
  };
}
