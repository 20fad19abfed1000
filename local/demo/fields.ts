/** How producers call a member of an event: `unique_key` -> `order_id`. */
export type Names = (member: string) => string;

/** A text of EVENT_FIELDS, and from when on it is in force. */
export interface Fields {
  /** Epoch microseconds. */
  readonly since: number;
  readonly text: string;
}

export const SAME: Names = (member) => member;

/** `unique_key=order_id,event_status=action`; members that it leaves out have their own names. */
export function namesOf(text: string): Names {
  const pairs = text.split(',').map((pair) => pair.trim().split('='));
  const names = new Map(pairs.map(([member = '', name = '']) => [member, name]));
  return (member) => names.get(member) ?? member;
}

/** The names in force at a time in epoch microseconds; `fields` in the order of their times. */
export function namesAt(fields: readonly Fields[]): (time: number) => Names {
  const known = fields.map(({ since, text }) => ({ since, names: namesOf(text) }));
  return (time) => known.findLast(({ since }) => since <= time)?.names ?? SAME;
}
