import type { Micros } from '../event.ts';
import { PermanentError } from '../errors.ts';
import { unquote, type JsonValue } from '../json.ts';
import { parseEpoch, parseRfc3339, type ReadTime, type TimeRange } from '../time.ts';
import { MAX_TEXT } from './limits.ts';

const NUL = '\u0000';

/** A JSON null counts as absent everywhere. */
export function present(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value.kind !== 'null';
}

/**
 * A text exactly as published.
 *
 * @throws PermanentError wrong_type, invalid_unicode, too_large
 */
export function text(value: JsonValue, name: string, maxBytes = MAX_TEXT): string {
  if (value.kind !== 'string') {
    throw new PermanentError('wrong_type', `${name} is ${aKind(value.kind)}: publish it as a string`);
  }
  return checkText(unquote(value.source), name, maxBytes);
}

/** The rules of `text` for a text that did not come as JSON. */
export function checkText(value: string, name: string, maxBytes = MAX_TEXT): string {
  if (!value.isWellFormed()) {
    throw new PermanentError('invalid_unicode', `${name} holds half of a surrogate pair, which UTF-8 cannot encode`);
  }
  if (value.includes(NUL)) {
    throw new PermanentError('invalid_unicode', `${name} holds the character U+0000, which not every store can keep`);
  }
  if (Buffer.byteLength(value) > maxBytes) {
    throw new PermanentError('too_large', `${name} is longer than ${maxBytes} bytes`);
  }
  return value;
}

/**
 * A positive integer; null when absent.
 *
 * @throws PermanentError wrong_type
 */
export function sequence(value: JsonValue | undefined, name: string): number | null {
  if (!present(value)) return null;
  const number = value.kind === 'number' && /^[1-9]\d*$/.test(value.source) ? Number(value.source) : NaN;
  if (!Number.isSafeInteger(number)) {
    throw new PermanentError('wrong_type', `${name} must be a whole number from 1, written without point or exponent`);
  }
  return number;
}

/**
 * @throws PermanentError missing_field, wrong_type, invalid_timestamp, timestamp_out_of_range
 */
export function time(value: JsonValue | undefined, name: string, range: TimeRange): ReadTime {
  if (!present(value)) throw new PermanentError('missing_field', `${name} is missing`);
  const read = readTime(value, name);
  if (read === null) {
    throw new PermanentError(
      'invalid_timestamp',
      `${name} is no time we read: use RFC 3339 with seconds and zone, such as 2024-01-05T10:00:00.184708Z, or an epoch number`,
    );
  }
  checkRange(read.micros, name, range);
  return read;
}

function readTime(value: JsonValue, name: string): ReadTime | null {
  if (value.kind === 'number') return parseEpoch(value.source);
  if (value.kind !== 'string') {
    throw new PermanentError('wrong_type', `${name} is ${aKind(value.kind)}: publish RFC 3339 text or an epoch number`);
  }
  const written = unquote(value.source);
  return parseRfc3339(written) ?? (/^-?\d+(\.\d+)?$/.test(written) ? parseEpoch(written) : null);
}

function checkRange(micros: Micros, name: string, range: TimeRange): void {
  if (micros >= range.from && micros <= range.to) return;
  const side = micros < range.from ? 'past' : 'future';
  throw new PermanentError(
    'timestamp_out_of_range',
    `${name} lies too far in the ${side} for the table of events; if it is right, load the event by a batch job`,
  );
}

function aKind(kind: string): string {
  return kind === 'array' || kind === 'object' ? `an ${kind}` : `a ${kind}`;
}
