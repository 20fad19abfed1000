/** Timestamps and dates as GoogleSQL writes them. */

const PATTERN =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[ Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,6}))?)?(?: ?(UTC)|([Zz])|([+-])(\d{1,2})(?::?(\d{2}))?)?$/;

/** Days since 1970-01-01 of a valid date of the years 1 to 9999. */
export function parseDate(source: string): bigint | undefined {
  const match = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(source);
  return match ? days(Number(match[1]), Number(match[2]), Number(match[3])) : undefined;
}

function days(year: number, month: number, day: number): bigint | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (year < 1 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return BigInt(date.getTime()) / 86_400_000n;
}

/** Epoch microseconds; without a zone it is UTC. Names of zones other than UTC are not known. */
export function parseTimestamp(source: string): bigint | undefined {
  const match = PATTERN.exec(source);
  if (!match) return undefined;
  const date = days(Number(match[1]), Number(match[2]), Number(match[3]));
  const [hour, minute, second] = [Number(match[4] ?? 0), Number(match[5] ?? 0), Number(match[6] ?? 0)];
  const offset = Number(match[11] ?? 0) * 60 + Number(match[12] ?? 0);
  if (date === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  if (offset > 14 * 60 || Number(match[12] ?? 0) > 59) return undefined;
  const minutes = hour * 60 + minute - (match[10] === '-' ? -offset : offset);
  const micros = BigInt((match[7] ?? '').padEnd(6, '0'));
  const result = date * 86_400_000_000n + BigInt(minutes) * 60_000_000n + BigInt(second) * 1_000_000n + micros;
  return result < -62_135_596_800_000_000n || result > 253_402_300_799_999_999n ? undefined : result;
}

export function dateText(day: bigint): string {
  return new Date(Number(day) * 86_400_000).toISOString().slice(0, 10);
}
