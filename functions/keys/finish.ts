import { AmbiguousError, PermanentError, toError } from '../core/errors.ts';
import { claimSummary, confirmSummary, type Confirmed } from '../core/sequence/claim.ts';
import { createRules, type RuleSettings } from '../core/sequence/rules.ts';
import type { Claim } from '../core/sequence/state.ts';
import { summaryMessage } from '../core/sequence/summary.ts';
import type { Log } from '../log.ts';
import type { Ports } from '../ports.ts';
import { attempt } from './attempt.ts';
import { readState, sequencePath, writeState } from './documents.ts';

export type Finished =
  /** Summaries written by this call. */
  | { readonly kind: 'written'; readonly revisions: number }
  /** Nothing is due. */
  | { readonly kind: 'idle' }
  /** Another instance holds the claim. */
  | { readonly kind: 'busy' }
  /** The table or the topic will not take the summary; the claim stays and is tried again ever more rarely. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** May succeed later; the wake-up in the state, or a repeat of the message, goes on. */
  | { readonly kind: 'failed'; readonly error: Error };

export type FinishPorts = Pick<Ports, 'store' | 'clock' | 'summaries' | 'bus'>;

/** Transactions before one counts as failed. */
const ATTEMPTS = 4;
/** Summaries of one key in one call: an expired one whose completion came in the meantime is followed at once. */
const IN_A_ROW = 3;

/** Writes the summary of a key that is due: claim, append, publish, confirm. Never rejects. */
export function createFinisher(ports: FinishPorts, config: RuleSettings) {
  const rules = createRules(config);

  async function claim(uniqueKey: string): Promise<Claim | 'idle' | 'busy'> {
    let tried: Claim | null = null;
    let lost: Claim | null = null;
    return attempt(ATTEMPTS, async () => {
      try {
        return await ports.store.transaction(async (tx) => {
          const path = sequencePath(uniqueKey);
          const state = readState((await tx.get([path]))[0]);
          if (state === null) return 'idle';
          if (lost !== null && state.claim !== null && isSameClaim(state.claim, lost)) return state.claim;
          const claimed = claimSummary(state, ports.clock.now(), rules);
          if (claimed.state !== state) tx.set(path, writeState(claimed.state, rules));
          if (claimed.kind !== 'claimed') return claimed.kind;
          tried = claimed.claim;
          return claimed.claim;
        });
      } catch (error) {
        // Only a commit whose answer was lost can have left this claim behind.
        lost = error instanceof AmbiguousError ? tried : null;
        throw error;
      }
    });
  }

  function confirm(uniqueKey: string, held: Claim): Promise<Confirmed> {
    return ports.store.transaction(async (tx) => {
      const path = sequencePath(uniqueKey);
      const state = readState((await tx.get([path]))[0]);
      if (state === null) return { kind: 'gone' };
      const confirmed = confirmSummary(state, held, ports.clock.now(), rules);
      if (confirmed.kind === 'confirmed') tx.set(path, writeState(confirmed.state, rules));
      return confirmed;
    });
  }

  /** Makes the row durable, then announces it; both repeat identically. Returns why it was refused for good, or null. */
  async function write({ row }: Claim): Promise<string | null> {
    const [appended] = await ports.summaries.append([row]);
    if (appended === undefined || !appended.ok) return appended?.reason ?? 'the table gave no answer for the row';
    const [published] = await ports.bus.publish('summaries', [summaryMessage(row)]);
    if (published instanceof PermanentError) return published.message;
    if (published instanceof Error) throw published;
    return null;
  }

  async function finish(uniqueKey: string, log: Log): Promise<Finished> {
    for (let revisions = 0; revisions < IN_A_ROW;) {
      const held = await claim(uniqueKey);
      if (typeof held === 'string') return revisions > 0 ? { kind: 'written', revisions } : { kind: held };
      const refusal = await write(held);
      if (refusal !== null) {
        const { generation, revision } = held.row;
        log({
          severity: 'ERROR',
          event: 'finish.refused',
          unique_key: uniqueKey,
          generation,
          revision,
          message: refusal,
        });
        return { kind: 'refused', reason: refusal };
      }
      const confirmed = await attempt(ATTEMPTS, () => confirm(uniqueKey, held));
      revisions++;
      if (confirmed.kind === 'gone' || !confirmed.due) return { kind: 'written', revisions };
    }
    return { kind: 'written', revisions: IN_A_ROW };
  }

  return {
    async finish(uniqueKey: string, log: Log): Promise<Finished> {
      try {
        return await finish(uniqueKey, log);
      } catch (thrown) {
        return { kind: 'failed', error: toError(thrown) };
      }
    },
  };
}

/** Two instances may agree even in the moment; then both write the same row, which does no harm. */
function isSameClaim(a: Claim, b: Claim): boolean {
  return a.row.generation === b.row.generation && a.row.revision === b.row.revision && a.until === b.until;
}
