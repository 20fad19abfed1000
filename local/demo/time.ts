/** Times of the input, read without any code of the functions: the check must not share their mistakes. */

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))?$/;
export const DAY = 86_400_000_000;

/** Epoch microseconds of an event's timestamp (RFC 3339 text, or an epoch number); null when it is neither. */
export function micros(timestamp: unknown): number | null {
  if (typeof timestamp === 'number') return epoch(timestamp);
  if (typeof timestamp !== 'string') return null;
  if (/^-?\d+(\.\d+)?$/.test(timestamp)) return epoch(Number(timestamp));
  const parts = RFC3339.exec(timestamp);
  if (parts === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const midnight = new Date(Date.UTC(year, month - 1, day));
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== day) return null;
  if (hour > 23 || minute > 59 || second > 60) return null;
  const offset = parts[8] === undefined ? 0 : (Number(parts[9]) * 60 + Number(parts[10])) * (parts[8] === '-' ? -1 : 1);
  const seconds = midnight.getTime() / 1000 + (hour * 60 + minute - offset) * 60 + second;
  // A leap second ends a day of UTC.
  if (second === 60 && seconds % 86_400 !== 0) return null;
  return seconds * 1e6 + Number((parts[7] ?? '').padEnd(6, '0').slice(0, 6));
}

/** Seconds, milliseconds, microseconds and nanoseconds are told apart by magnitude. */
export function unitOf(number: number): number | null {
  const size = Math.abs(number);
  if (size < 1e8) return null;
  if (size < 1e11) return 1e6;
  if (size < 1e14) return 1e3;
  if (size < 1e17) return 1;
  return size < 1e20 ? 1e-3 : null;
}

function epoch(number: number): number | null {
  const unit = unitOf(number);
  const time = unit === null ? NaN : Math.floor(number * unit);
  return Number.isSafeInteger(time) ? time : null;
}

/** The same text, this many whole days later; anything that is no time stays as it is. */
export function shiftDays(timestamp: string | number, days: number): string | number {
  if (micros(timestamp) === null) return timestamp;
  const number = Number(timestamp);
  if (!Number.isNaN(number)) {
    const shifted = number + (days * DAY) / unitOf(number)!;
    return typeof timestamp === 'number' ? shifted : String(shifted);
  }
  const text = String(timestamp);
  const date = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10) + text.slice(10);
}

/** RFC 3339 with microseconds. */
export function rfc3339(time: number): string {
  const seconds = Math.floor(time / 1e6);
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(time - seconds * 1e6).padStart(6, '0')}Z`;
}
