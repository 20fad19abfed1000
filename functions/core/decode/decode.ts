import type { Delivery, Event } from '../event.ts';
import { PermanentError } from '../errors.ts';
import { JsonError, scanObject, type JsonMember } from '../json.ts';
import type { TimeRange } from '../time.ts';
import { checkText, present, sequence, text, time } from './fields.ts';
import { notJsonHint } from './hint.ts';
import { MAX_KEY, MAX_STATUS } from './limits.ts';
import { messageText } from './text.ts';

/** How the producers call each member. */
export type FieldNames = Readonly<
  Record<'unique_key' | 'event_status' | 'timestamp' | 'event_id' | 'join_key' | 'sequence' | 'payload', string>
>;

/** The member of `extra` that keeps the timestamp as it was published, when it was normalised. */
export const ORIGINAL_TIMESTAMP = 'codaflow.timestamp';

/**
 * Reads one message as an event.
 *
 * @throws PermanentError with the code and a one-line hint
 */
export function decode(
  delivery: Pick<Delivery, 'data' | 'attributes' | 'messageId'>,
  names: FieldNames,
  range: TimeRange,
): Event {
  const members = envelope(messageText(delivery.data, delivery.attributes));
  const find = (member: keyof FieldNames) => members.get(names[member]);
  const required = (member: 'unique_key' | 'event_status', maxBytes?: number): string => {
    const code = member === 'unique_key' ? 'missing_key' : 'missing_field';
    const value = find(member);
    if (!present(value)) throw new PermanentError(code, `${names[member]} is missing`);
    const read = text(value, names[member], maxBytes);
    if (read.trim() === '') throw new PermanentError(code, `${names[member]} is empty or blank`);
    return read;
  };

  const uniqueKey = required('unique_key', MAX_KEY);
  const eventStatus = required('event_status', MAX_STATUS);
  const timestamp = find('timestamp');
  const { micros, normalised } = time(timestamp, names.timestamp, range);
  const joinKey = find('join_key');
  const payload = find('payload');
  if (payload?.unpaired === true) {
    throw new PermanentError('invalid_unicode', `${names.payload} holds half of a surrogate pair (\\ud800 to \\udfff)`);
  }
  return {
    eventId: eventId(find('event_id'), names.event_id, delivery),
    uniqueKey,
    eventStatus,
    eventTime: micros,
    joinKey: present(joinKey) ? text(joinKey, names.join_key) : null,
    sequence: sequence(find('sequence'), names.sequence),
    payload: present(payload) ? payload.source : null,
    extra: extra(members, new Set(Object.values(names)), normalised ? timestamp!.source : null),
    normalised,
  };
}

/** The members by their names. */
function envelope(json: string): Map<string, JsonMember> {
  const members = scan(json);
  const byName = new Map<string, JsonMember>();
  for (const member of members) {
    if (byName.has(member.name)) {
      throw new PermanentError(
        'duplicate_member',
        `${member.nameSource.slice(0, 100)} appears twice: readers would disagree about which one counts`,
      );
    }
    byName.set(member.name, member);
  }
  return byName;
}

function scan(json: string): readonly JsonMember[] {
  let found;
  try {
    found = scanObject(json);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    if (error.reason === 'depth') throw new PermanentError('too_deep', `the data is ${error.message}`, error);
    throw new PermanentError('invalid_json', notJsonHint(json, error.message), error);
  }
  if (typeof found !== 'string') return found;
  const hint =
    found === 'string'
      ? 'the data is a JSON string: was it serialised twice?'
      : found === 'array'
        ? 'the data is an array: publish one message for each event'
        : `the data is a JSON ${found}`;
  throw new PermanentError('not_an_object', hint);
}

/** From the member, else from the attribute, else the message id, which stays the same over redeliveries. */
function eventId(
  member: JsonMember | undefined,
  name: string,
  delivery: Pick<Delivery, 'attributes' | 'messageId'>,
): string {
  const attribute = delivery.attributes['event_id'];
  let id = delivery.messageId;
  if (present(member)) id = text(member, name);
  else if (attribute !== undefined) id = checkText(attribute, 'the attribute event_id');
  if (id !== '') return id;
  const hint =
    present(member) || attribute !== undefined
      ? `${name} is empty: leave it out or give each event its own`
      : `there is no ${name}: give each event one that stays the same when it is sent again`;
  throw new PermanentError('missing_event_id', hint);
}

/** The members that no column holds, as they were written. */
function extra(
  members: ReadonlyMap<string, JsonMember>,
  known: ReadonlySet<string>,
  originalTimestamp: string | null,
): string | null {
  const parts: string[] = [];
  for (const member of members.values()) {
    if (!known.has(member.name)) parts.push(`${member.nameSource}:${member.source}`);
  }
  if (originalTimestamp !== null) {
    let name = ORIGINAL_TIMESTAMP;
    while (members.has(name)) name += '_';
    parts.push(`${JSON.stringify(name)}:${originalTimestamp}`);
  }
  return parts.length === 0 ? null : `{${parts.join(',')}}`;
}
