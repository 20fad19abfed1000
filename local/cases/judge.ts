import { PERMANENT_CODES } from '../../functions/core/errors.ts';
import type { Case } from './format.ts';
import type { Outcome } from './run.ts';

/**
 * Cases that leave a choice ("either ... or"), and what Codaflow chose. Where the file expects a dead letter or another
 * stated behaviour, this is the other one.
 */
export const CHOICES: Readonly<Record<string, { readonly outcome: string; readonly because: string }>> = {
  'DEC-13': {
    outcome: 'accept',
    because: 'the text of a payload is stored untouched, so no number in it can overflow',
  },
};

/** Whether a case ended as it should: the outcome, and for dead letters a reason that its check names. */
export function asExpected(one: Case, { outcome, reasons }: Outcome): boolean {
  const wanted = CHOICES[one.id]?.outcome ?? one.outcome;
  if (outcome !== wanted) return false;
  const named = PERMANENT_CODES.filter((code) => one.check.includes(code));
  return (
    outcome !== 'dead_letter' || named.length === 0 || reasons.some((reason) => named.some((code) => code === reason))
  );
}
