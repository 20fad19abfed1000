/** BigQuery's list price on demand in the US, in dollars for each TiB; other regions are up to a third dearer. */
const DOLLARS_PER_TIB = 6.25;

/** A sum of dollars for people to read; three digits, so that small ones are not nothing. */
export function dollars(bytes: number): string {
  const sum = (bytes / 2 ** 40) * DOLLARS_PER_TIB;
  return sum === 0 ? '$0' : `$${sum >= 100 ? sum.toFixed(0) : sum.toPrecision(3)}`;
}
