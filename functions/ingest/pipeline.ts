import type { Config } from '../config.ts';
import { deadLetter, type Rejection } from '../core/dead-letter.ts';
import { decode } from '../core/decode/decode.ts';
import { rowBytes, toRow } from '../core/decode/row.ts';
import type { Delivery, Event } from '../core/event.ts';
import { CodaflowError, PermanentError, toError, type PermanentCode } from '../core/errors.ts';
import { acceptedRange } from '../core/time.ts';
import type { End } from '../end.ts';
import type { Log } from '../log.ts';
import { createCommit, type CommitPorts, type Fate, type Pending, type Recording } from './commit.ts';
import { GroupCommit } from './group.ts';

/** What became of one message. All but `retry` are final: acknowledge it. */
export type Outcome =
  | { readonly kind: 'stored'; readonly event: Event }
  | { readonly kind: 'repeated'; readonly event: Event }
  /** The dead-letter topic holds it. */
  | { readonly kind: 'rejected'; readonly code: PermanentCode; readonly hint: string }
  /** It may succeed later: do not acknowledge. */
  | { readonly kind: 'retry'; readonly error: Error };

export interface Pipeline {
  /** Resolves by `end`, never rejects. May be called many times at once: what waits together is written together. */
  ingest(delivery: Delivery, end: End, log: Log): Promise<Outcome>;
  /** Dead-letters what the caller knows can never succeed. Resolves by `end`, never rejects. */
  reject(delivery: Delivery, rejection: Rejection, end: End, log: Log): Promise<Outcome>;
}

/** Calls that a group has time for at least: append and record. */
const CALLS = 2;
/** What a waiting event takes besides its row, as measured: its objects and those of its request. */
const ITEM_BYTES = 3 * 1024;

/** Decode, store, record, wake: the way of every event, whoever delivers it. `report` takes a line for each group. */
export function createPipeline<Due extends { readonly uniqueKey: string }>(
  config: Config,
  ports: CommitPorts,
  recording: Recording<Due>,
  report: Log,
): Pipeline {
  const { groupKeys: keys, groupEvents, groupBytes, pendingBytes, groupBudget: budget } = config;
  const commit = createCommit(ports, recording, { keys, events: groupEvents });
  const groups = new GroupCommit<Pending, Fate>(
    async (group, end) => {
      const fates = await commit(group, end);
      report({ severity: 'INFO', event: 'ingest.group', ...countFates(fates) });
      return fates;
    },
    { groupBytes, pendingBytes, itemBytes: ITEM_BYTES, budget, calls: CALLS },
    ports.clock,
  );

  const read = (delivery: Delivery): Pending | PermanentError => {
    const now = ports.clock.now();
    try {
      const range = acceptedRange(now, config.partitioning, config.partitionExpiration);
      const event = decode(delivery, config.eventFields, range);
      return { event, row: toRow(event, delivery, now) };
    } catch (error) {
      if (error instanceof PermanentError) return error;
      throw error;
    }
  };

  const commitOne = async (pending: Pending, end: End): Promise<Fate> => {
    try {
      // Time is left for one dead letter.
      return await groups.submit(pending, rowBytes(pending.row), end.before(1));
    } catch (error) {
      return { kind: 'failed', error: toError(error) };
    }
  };

  const reject = async (delivery: Delivery, rejection: Rejection, end: End, log: Log): Promise<Outcome> => {
    try {
      const letter = deadLetter(delivery, rejection, config.eventFields);
      const [result] = await end.guard(ports).bus.publish('deadLetters', [letter]);
      if (result instanceof Error) throw result;
      log({
        severity: 'WARNING',
        event: 'ingest.dead_letter',
        message: rejection.hint,
        code: rejection.code,
        cause: rejection.cause,
        eventId: letter.attributes['event_id'],
        key: letter.attributes['unique_key'] ?? letter.attributes['unique_key_sha256'],
      });
      return { kind: 'rejected', code: rejection.code, hint: rejection.hint };
    } catch (thrown) {
      // Not acknowledged: the message must not be lost because its dead letter could not be written.
      return { kind: 'retry', error: toError(thrown) };
    }
  };

  const settle = async (delivery: Delivery, end: End, log: Log): Promise<Outcome> => {
    const pending = read(delivery);
    if (pending instanceof PermanentError) {
      return reject(delivery, { code: pending.code, hint: pending.message }, end, log);
    }
    const fate = await commitOne(pending, end);
    switch (fate.kind) {
      case 'recorded':
        return { kind: 'stored', event: pending.event };
      case 'repeated':
        return { kind: 'repeated', event: pending.event };
      case 'conflict':
        return reject(delivery, { code: 'event_id_conflict', hint: fate.message }, end, log);
      case 'refused':
        return reject(delivery, { code: 'row_refused', hint: `BigQuery refused the row: ${fate.reason}` }, end, log);
      case 'failed':
        return failed(delivery, fate.error, end, log);
    }
  };

  /** Something around the event failed. That is no fault of the event, whatever kind of error it is. */
  const failed = async (delivery: Delivery, error: Error, end: End, log: Log): Promise<Outcome> => {
    if (delivery.deliveryAttempt === null || delivery.deliveryAttempt < config.maxAttempts) {
      return { kind: 'retry', error };
    }
    const cause = error instanceof CodaflowError ? error.code : 'unknown';
    const hint = `delivery attempt ${delivery.deliveryAttempt} failed like the ones before: ${error.message}`;
    return reject(delivery, { code: 'delivery_attempts_exhausted', hint, cause }, end, log);
  };

  return {
    async ingest(delivery, end, log) {
      try {
        return await settle(delivery, end, log);
      } catch (thrown) {
        return { kind: 'retry', error: toError(thrown) };
      }
    },
    reject,
  };
}

/** Events of a group by what became of them; `rejected` ones become dead letters, `failed` ones are delivered again. */
function countFates(fates: readonly Fate[]): Readonly<Record<string, number>> {
  const counts = { events: fates.length, stored: 0, repeated: 0, rejected: 0, failed: 0 };
  const names = { recorded: 'stored', repeated: 'repeated', conflict: 'rejected', refused: 'rejected', failed: 'failed' } as const; // prettier-ignore
  for (const { kind } of fates) counts[names[kind]]++;
  return counts;
}
