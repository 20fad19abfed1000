import type { Micros } from './event.ts';

export const SECOND = 1e6;
export const DAY = 86_400e6;

/** A time that was read. `normalised` when the text was not an exact RFC 3339 time of at most microseconds. */
export interface ReadTime {
  readonly micros: Micros;
  readonly normalised: boolean;
}

// Groups: year, month, day, hour, minute, second, fraction, zone (or its sign, hours and minutes).
const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?(?:([Zz])|([+-])([01]\d|2[0-3]):([0-5]\d))?$/;

/**
 * RFC 3339 text, with `T`, `t` or one space between date and time and `Z` or `z` or an offset after it; without a zone it
 * is UTC. Digits beyond microseconds are cut off, never rounded. A leap second (`:60`, only as the last second of a UTC
 * day) is the first second of the next day, as in POSIX time. Everything else, such as a date alone or a missing second,
 * is null: readers disagree about it.
 */
export function parseRfc3339(text: string): ReadTime | null {
  const match = RFC_3339.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  const offset =
    match[9] === undefined ? 0 : (match[9] === '-' ? -1 : 1) * (Number(match[10]) * 60 + Number(match[11]));
  const seconds = (daysSinceEpoch(year, month, day) * 24 + hour) * 3600 + (minute - offset) * 60 + second;
  const leap = second === 60;
  if (leap && seconds % 86_400 !== 0) return null;
  const fraction = match[7] ?? '';
  const noZone = match[8] === undefined && match[9] === undefined;
  return {
    micros: seconds * SECOND + Number(fraction.slice(0, 6).padEnd(6, '0')),
    normalised: noZone || leap || fraction.length > 6,
  };
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days from 1970-01-01 in the Gregorian calendar, for years 0 to 9999. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  // Counted in years that begin in March, so that the leap day is the last one.
  const y = month <= 2 ? year - 1 : year;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return y * 365 + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + dayOfYear - 719_468;
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * An epoch number by its decimal text, so that no digit is lost to floating point. Its unit follows from the digits before
 * the point: 9 to 11 are seconds (from 1973 on: a smaller number is no time, nothing may land in 1970), 12 to 14
 * milliseconds, 15 to 17 microseconds, 18 to 20 nanoseconds; anything else is null. What is finer than a microsecond is
 * cut off (downwards).
 */
export function parseEpoch(text: string): ReadTime | null {
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  const negative = match[1] === '-';
  const fraction = match[3] ?? '';
  const exponent = Number(match[4] ?? 0);
  // The value is 0.DIGITS times ten to the power of `point`.
  const raw = match[2]! + fraction;
  const digits = raw.replace(/^0+/, '');
  const point = match[2]!.length + exponent - (raw.length - digits.length);
  if (digits === '' || point < 9 || point > 20) return null;
  const decimals = point <= 11 ? 6 : point <= 14 ? 3 : point <= 17 ? 0 : -3;
  const kept = point + decimals;
  const magnitude = Number(digits.slice(0, kept).padEnd(kept, '0'));
  const rest = /[1-9]/.test(digits.slice(kept)) ? 1 : 0;
  const micros = negative ? -magnitude - rest : magnitude;
  return Number.isSafeInteger(micros) ? { micros, normalised: true } : null;
}

/** `2024-01-05T10:00:00.184708Z`, always with six digits. */
export function formatMicros(micros: Micros): string {
  const millis = Math.floor(micros / 1000);
  const rest = micros - millis * 1000;
  return new Date(millis).toISOString().slice(0, -1) + String(rest).padStart(3, '0') + 'Z';
}

/** The times that the table of events takes. */
export interface TimeRange {
  readonly from: Micros;
  readonly to: Micros;
}

/**
 * BigQuery takes streamed rows from 10 years in the past to 1 year in the future, by its own clock: a day's margin at each
 * end keeps a row from being refused on its way. A partition expiration ends the past sooner. With hourly partitions the
 * future must leave room under 10,000 partitions per table.
 */
export function acceptedRange(now: Micros, partitioning: 'DAY' | 'HOUR', partitionExpiration: Micros): TimeRange {
  let back = 3651 * DAY;
  let ahead = 364 * DAY;
  if (partitionExpiration > 0) back = Math.min(back, partitionExpiration - Math.min(DAY, partitionExpiration / 2));
  if (partitioning === 'HOUR') ahead = Math.min(ahead, (10_000 / 24 - 1) * DAY - partitionExpiration);
  return { from: now - back, to: now + ahead };
}
