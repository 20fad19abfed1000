import { AmbiguousError, toError } from '../core/errors.ts';
import { claimSummary, confirmSummary, type Confirmed } from '../core/sequence/claim.ts';
import { createRules, type RuleSettings } from '../core/sequence/rules.ts';
import type { Claim, State } from '../core/sequence/state.ts';
import type { End } from '../end.ts';
import type { Log } from '../log.ts';
import type { Ports } from '../ports.ts';
import { ANNOUNCE_CALLS, Announcer } from './announce.ts';
import { StateChanges } from './changes.ts';

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

/** Summaries of one key in one call: an expired one whose completion came in the meantime is followed at once. */
const IN_A_ROW = 3;

/** Calls that a claim is followed by: append, publish, confirm. */
const AFTER_CLAIM = ANNOUNCE_CALLS + 1;

/** Writes the summary of a key that is due: claim, append, publish, confirm. Resolves by the end, never rejects. */
export function createFinisher(ports: FinishPorts, config: RuleSettings) {
  const rules = createRules(config);

  const changes = new StateChanges(ports, rules);
  const announcer = new Announcer(ports);

  async function claim(uniqueKey: string, end: End): Promise<Claim | 'idle' | 'busy'> {
    let tried: Claim | null = null;
    let lost: Claim | null = null;
    const decide = (state: State | null): { state: State | null; result: Claim | 'idle' | 'busy' } => {
      tried = null;
      if (state === null) return { state, result: 'idle' };
      if (lost !== null && state.claim !== null && isSameClaim(state.claim, lost)) {
        tried = lost;
        return { state, result: state.claim };
      }
      const claimed = claimSummary(state, ports.clock.now(), rules);
      if (claimed.kind !== 'claimed') return { state: claimed.state, result: claimed.kind };
      tried = claimed.claim;
      return { state: claimed.state, result: claimed.claim };
    };
    // Only a commit whose answer was lost can have left this claim behind, whatever fails after it.
    return changes.run(uniqueKey, decide, end, (error) => (lost = error instanceof AmbiguousError ? tried : lost));
  }

  function confirm(uniqueKey: string, held: Claim, end: End): Promise<Confirmed> {
    const decide = (state: State | null): { state: State | null; result: Confirmed } => {
      if (state === null) return { state, result: { kind: 'gone' } };
      const confirmed = confirmSummary(state, held, ports.clock.now(), rules);
      return { state: confirmed.kind === 'confirmed' ? confirmed.state : state, result: confirmed };
    };
    return changes.run(uniqueKey, decide, end);
  }

  /** Why the summary was refused for good, or null when it was written. */
  async function write({ row }: Claim, end: End): Promise<string | null> {
    const announced = await announcer.announce(row, end);
    if (announced.kind === 'failed') throw announced.error;
    return announced.kind === 'refused' ? announced.reason : null;
  }

  async function finish(uniqueKey: string, end: End, log: Log): Promise<Finished> {
    for (let revisions = 0; revisions < IN_A_ROW;) {
      // The wake-up in the state goes on with what does not fit.
      if (revisions > 0 && !end.fits(1 + AFTER_CLAIM)) return { kind: 'written', revisions };
      const held = await claim(uniqueKey, end.before(AFTER_CLAIM));
      if (typeof held === 'string') return revisions > 0 ? { kind: 'written', revisions } : { kind: held };
      const refusal = await write(held, end.before(1));
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
      const confirmed = await confirm(uniqueKey, held, end);
      revisions++;
      if (confirmed.kind === 'gone' || !confirmed.due) return { kind: 'written', revisions };
    }
    return { kind: 'written', revisions: IN_A_ROW };
  }

  return {
    async finish(uniqueKey: string, end: End, log: Log): Promise<Finished> {
      try {
        return await finish(uniqueKey, end, log);
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
