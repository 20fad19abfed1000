import { PermanentError, toError } from '../core/errors.ts';
import type { SummaryRow } from '../core/event.ts';
import { summaryMessage } from '../core/sequence/summary.ts';
import type { End } from '../end.ts';
import { appendAll } from '../ingest/append.ts';
import { GroupCommit } from '../ingest/group.ts';
import type { Ports } from '../ports.ts';

/** `refused`: the table or the topic will never take it. */
export type Announced =
  | { readonly kind: 'announced' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: Error };

/** Calls that one row takes: append and publish. */
export const ANNOUNCE_CALLS = 2;
const LIMITS = {
  groupBytes: 8 * 2 ** 20,
  pendingBytes: 64 * 2 ** 20,
  itemBytes: 3 * 1024,
  budget: 25e6,
  calls: ANNOUNCE_CALLS,
  overtakeMs: 10_000,
};

/**
 * Makes summaries durable, then announces them; both repeat identically. What comes while others are being written is
 * written together next, each with a fate of its own.
 */
export class Announcer {
  readonly #ports: Pick<Ports, 'summaries' | 'bus' | 'clock'>;
  readonly #groups: GroupCommit<SummaryRow, Announced>;

  constructor(ports: Pick<Ports, 'summaries' | 'bus' | 'clock'>) {
    this.#ports = ports;
    this.#groups = new GroupCommit((rows, end) => this.#write(rows, end), LIMITS, ports.clock);
  }

  /**
   * Resolves by `end`.
   *
   * @throws TransientError overloaded
   */
  announce(row: SummaryRow, end: End): Promise<Announced> {
    return this.#groups.submit(row, size(row), end);
  }

  async #write(rows: readonly SummaryRow[], end: End): Promise<readonly Announced[]> {
    const { summaries, bus } = end.guard(this.#ports);
    const appended = await appendAll(summaries, rows);
    const durable = rows.filter((_, index) => appended[index]?.kind === 'recorded');
    const published = new Map<SummaryRow, Announced>();
    if (durable.length > 0) {
      const results = await publish(bus, durable);
      durable.forEach((row, index) => published.set(row, outcome(results[index])));
    }
    return rows.map((row, index) => {
      const fate = appended[index];
      return fate === undefined || fate.kind === 'recorded' ? (published.get(row) ?? NO_ANSWER) : fate;
    });
  }
}

const NO_ANSWER: Announced = { kind: 'refused', reason: 'the table gave no answer for the row' };

async function publish(bus: Ports['bus'], rows: readonly SummaryRow[]): Promise<readonly (string | Error)[]> {
  try {
    return await bus.publish('summaries', rows.map(summaryMessage));
  } catch (thrown) {
    return rows.map(() => toError(thrown));
  }
}

function outcome(result: string | Error | undefined): Announced {
  if (result instanceof PermanentError) return { kind: 'refused', reason: result.message };
  if (result instanceof Error) return { kind: 'failed', error: result };
  return { kind: 'announced' };
}

/** About the bytes of a row in a request. */
function size({ unique_key, steps, fields }: SummaryRow): number {
  let bytes = 400 + Buffer.byteLength(unique_key) + Buffer.byteLength(fields ?? '');
  for (const step of steps) bytes += 32 + Buffer.byteLength(step.event_id) + Buffer.byteLength(step.event_status);
  return bytes;
}
