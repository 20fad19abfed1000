/**
 * Exact decimals as integers in units of 10^-38. Digits from 10^38 down to 10^-38 are kept, so that sums never round
 * and never depend on their order.
 */
export type Decimal = bigint;

const DIGITS = 38;

/** Value of a JSON number; null when it has a digit outside the range (or is no number). */
export function parseDecimal(source: string): Decimal | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source);
  if (match === null) return null;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const all = whole + fraction;
  const start = /[1-9]/.exec(all)?.index;
  if (start === undefined) return 0n;
  const digits = all.slice(start).replace(/0+$/, '');
  // Power of ten of the first and of the last digit that is not zero; an absurd exponent becomes an infinity here.
  const first = whole.length - 1 - start + Number(exponent);
  const last = first - digits.length + 1;
  if (!(first <= DIGITS && last >= -DIGITS)) return null;
  const magnitude = BigInt(digits) * 10n ** BigInt(last + DIGITS);
  return sign === '-' ? -magnitude : magnitude;
}

/** Plain notation without superfluous zeros: `-12.5`, `0`, `100`. */
export function formatDecimal(value: Decimal): string {
  const text = (value < 0n ? -value : value).toString().padStart(DIGITS + 1, '0');
  const whole = text.slice(0, -DIGITS);
  const fraction = text.slice(-DIGITS).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
