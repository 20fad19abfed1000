import type { Micros } from './types.ts';

const DAY = 86_400_000_000;
const TEXT =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,6})\d*)?)?\s*(Z|UTC|[+-]\d{1,2}(?::?\d{2})?)?$/i;
/** 0001-01-01 to 9999-12-31, BigQuery's range. */
const MIN = -62_135_596_800_000_000;
const MAX = 253_402_300_799_999_999;

/** Reads `2026-01-02T03:04:05.678901Z` and its relatives; no zone is UTC. `undefined` when it is no timestamp. */
export function parseTimestamp(text: string): Micros | undefined {
  const match = TEXT.exec(text.trim());
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const offset = zoneMinutes(match[8]);
  if (offset === undefined) return undefined;
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset * 60;
  const micros = seconds * 1_000_000 + Number((match[7] ?? '').padEnd(6, '0'));
  return inRange(micros) ? micros : undefined;
}

function zoneMinutes(zone: string | undefined): number | undefined {
  if (zone === undefined || /^(z|utc)$/i.test(zone)) return 0;
  const match = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(zone);
  if (!match) return undefined;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return minutes > 14 * 60 ? undefined : match[1] === '-' ? -minutes : minutes;
}

export function inRange(micros: number): boolean {
  return Number.isFinite(micros) && micros >= MIN && micros <= MAX;
}

/** Days from 1970-01-01 of a `YYYY-MM-DD`. */
export function parseDate(text: string): number | undefined {
  if (!/^\d{4}-\d{1,2}-\d{1,2}$/.test(text)) return undefined;
  const micros = parseTimestamp(text);
  return micros === undefined ? undefined : micros / DAY;
}

/** Microseconds from midnight of a `HH:MM:SS[.ffffff]`. */
export function parseTime(text: string): Micros | undefined {
  return /^\d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,6})?$/.test(text) ? parseTimestamp(`1970-01-01 ${text}`) : undefined;
}

/** A civil date and time, as microseconds in UTC. */
export function parseDatetime(text: string): Micros | undefined {
  return /(Z|UTC|[+-]\d{1,2}:?\d{0,2})$/i.test(text.slice(10)) ? undefined : parseTimestamp(text);
}

/** Streamed rows reach partitions from this many days back to this many ahead of the current day. */
const PAST_DAYS = 3650;
const FUTURE_DAYS = 366;

/** Why a streamed row may not have this time in its partitioning column; `undefined` when it may. */
export function outsideStreamingRange(time: Micros, now: Micros): string | undefined {
  const days = Math.floor(time / DAY) - Math.floor(now / DAY);
  if (days >= -PAST_DAYS && days <= FUTURE_DAYS) return undefined;
  const partition = new Date(time / 1000).toISOString().slice(0, 10);
  return `partition ${partition} is outside the allowed bounds: ${PAST_DAYS} days in the past to ${FUTURE_DAYS} days in the future of the current date`;
}
