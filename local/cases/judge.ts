import { PERMANENT_CODES } from '../../functions/core/errors.ts';
import type { Case } from './format.ts';
import type { Outcome } from './run.ts';

interface Choice {
  readonly outcome: string;
  /** Reasons of the dead letters that are right, where the check names others. */
  readonly reasons?: readonly string[];
  readonly because: string;
}

/** Cases that leave a choice ("either ... or"), or that a stated rule decides otherwise; and what Codaflow does. */
export const CHOICES: Readonly<Record<string, Choice>> = {
  'DEC-13': {
    outcome: 'accept',
    because: 'the text of a payload is stored untouched, so no number in it can overflow',
  },
  'DEC-22': {
    outcome: '1 stored and 1 dead letters of 2',
    reasons: ['invalid_utf8'],
    because: 'content-encoding=gzip is supported; without the attribute the bytes are no UTF-8',
  },
  'FS-04': {
    outcome: 'dead_letter',
    reasons: ['missing_key', 'invalid_unicode'],
    because: 'an empty or blank key is missing_key, and no text may hold U+0000',
  },
};

/** Whether a case ended as it should: the outcome, and for dead letters a reason that its check names. */
export function asExpected(one: Case, { outcome, reasons }: Outcome): boolean {
  const choice = CHOICES[one.id];
  if (outcome !== (choice?.outcome ?? one.outcome)) return false;
  const named: readonly string[] = choice?.reasons ?? PERMANENT_CODES.filter((code) => one.check.includes(code));
  return named.length === 0 || reasons.every((reason) => named.includes(reason));
}
