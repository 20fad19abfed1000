import { gunzipSync } from 'node:zlib';
import { SAME, type Names } from './fields.ts';
import { members, stringEnd } from './members.ts';
import { DAY, micros } from './time.ts';

/** A message as Pub/Sub took it. */
export interface Published {
  readonly messageId: string;
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
  /** Epoch microseconds. */
  readonly time: number;
}

export interface ExpectedEvent {
  readonly uniqueKey: string;
  readonly eventId: string;
  readonly eventStatus: string;
  /** Epoch microseconds. */
  readonly eventTime: number;
  readonly joinKey: string | null;
  readonly sequence: number | null;
  /** As it was written. */
  readonly payload: string | null;
}

const DECODER = new TextDecoder('utf-8', { fatal: true });
const LIMITS = { unique_key: 1500, event_status: 2048, event_id: 1024, join_key: 1024 };
const ROW = 8_000_000;
const DEPTH = 500;

/** The event of a message, or the reason why it can never be one, by the documented rules alone. */
export function readEvent(
  { data, attributes, messageId, time: now }: Published,
  names: Names = SAME,
): ExpectedEvent | string {
  const line = textOf(data, attributes['content-encoding'] ?? '');
  if ('reason' in line) return line.reason;
  return readObject(line.text, attributes['event_id'], messageId, now, names);
}

function textOf(data: Buffer, encoding: string): { text: string } | { reason: string } {
  if (data.length === 0) return { reason: 'empty_data' };
  let bytes = data;
  if (encoding === 'gzip') {
    try {
      bytes = gunzipSync(data, { maxOutputLength: ROW });
    } catch (error) {
      const large = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      return { reason: large ? 'too_large' : 'unsupported_encoding' };
    }
  } else if (encoding !== '' && encoding !== 'identity') return { reason: 'unsupported_encoding' };
  try {
    return { text: DECODER.decode(bytes) };
  } catch {
    return { reason: 'invalid_utf8' };
  }
}

function readObject(
  line: string,
  idAttribute: string | undefined,
  messageId: string,
  now: number,
  names: Names,
): ExpectedEvent | string {
  let object: unknown;
  try {
    object = JSON.parse(line);
  } catch {
    return tooDeep(line) ? 'too_deep' : 'invalid_json';
  }
  if (tooDeep(line)) return 'too_deep';
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return 'not_an_object';
  const spans = members(line);
  if (new Set(spans.map(({ name }) => name)).size !== spans.length) return 'duplicate_member';
  const source = (member: string): string | null => {
    const name = names(member);
    const span = spans.find((one) => one.name === name);
    const text = span === undefined ? 'null' : line.slice(span.start, span.end);
    return text === 'null' ? null : text;
  };
  const value = (member: string): unknown => (object as Record<string, unknown>)[names(member)];
  const [unique_key, event_status, timestamp] = [value('unique_key'), value('event_status'), value('timestamp')];
  const join_key = value('join_key');
  const event_id = source('event_id') === null ? idAttribute : value('event_id');

  const key = required(unique_key, 'unique_key', 'missing_key') ?? required(event_status, 'event_status');
  if (key !== null) return key;
  if (timestamp === undefined || timestamp === null) return 'missing_field';
  if (typeof timestamp !== 'string' && typeof timestamp !== 'number') return 'wrong_type';
  const time = micros(timestamp);
  if (time === null) return 'invalid_timestamp';
  if (!inRange(time, now)) return 'timestamp_out_of_range';
  const payload = source('payload');
  if (payload !== null && !allWellFormed(value('payload'))) return 'invalid_unicode';
  const id = event_id === undefined ? null : (wrongText(event_id, 'event_id') ?? (event_id === '' ? 'missing_event_id' : null)); // prettier-ignore
  if (id !== null) return id;
  const join = source('join_key') === null ? null : wrongText(join_key, 'join_key');
  if (join !== null) return join;
  const sequence = source('sequence');
  if (sequence !== null && !(/^[1-9]\d*$/.test(sequence) && Number.isSafeInteger(Number(sequence))))
    return 'wrong_type';
  if (Buffer.byteLength(line) > ROW) return 'too_large';
  return {
    uniqueKey: unique_key as string,
    eventId: (event_id as string | undefined) ?? messageId,
    eventStatus: event_status as string,
    eventTime: time,
    joinKey: (join_key as string | null | undefined) ?? null,
    sequence: sequence === null ? null : Number(sequence),
    payload,
  };
}

function required(value: unknown, name: keyof typeof LIMITS, missing = 'missing_field'): string | null {
  if (value === undefined || value === null) return missing;
  return wrongText(value, name) ?? ((value as string).trim() === '' ? missing : null);
}

/** What is wrong with a text of an event; null when nothing is. */
function wrongText(value: unknown, name: keyof typeof LIMITS): string | null {
  if (typeof value !== 'string') return 'wrong_type';
  if (!value.isWellFormed() || value.includes('\0')) return 'invalid_unicode';
  return Buffer.byteLength(value) > LIMITS[name] ? 'too_large' : null;
}

function allWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, item]) => name.isWellFormed() && allWellFormed(item));
}

/** How deep valid JSON is nested. */
function tooDeep(json: string): boolean {
  let open = 0;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') at = stringEnd(json, at) - 1;
    else if (character === '}' || character === ']') open--;
    else if ((character === '{' || character === '[') && ++open > DEPTH) return true;
  }
  return false;
}

function inRange(time: number, now: number): boolean {
  return time >= now - 3651 * DAY && time <= now + 364 * DAY;
}
