import { SAME, type Names } from './fields.ts';
import type { Row } from './observe.ts';
import { micros } from './time.ts';
import { reasonOf } from './verdict.ts';
import { counted } from './words.ts';

/** What a person should know beside a verdict, in a sentence each. */

const SUGGESTED = 4;

/** When none of these events completes its key: the statuses that probably do. */
export function completionHint(
  lines: readonly string[],
  completion: readonly string[],
  names: Names = SAME,
): string | null {
  const last = new Map<string, { readonly status: string; readonly time: number }>();
  let events = 0;
  for (const line of lines) {
    const event = parse(line);
    const [key, status] = [event[names('unique_key')], event[names('event_status')]];
    if (typeof key !== 'string' || typeof status !== 'string') continue;
    if (completion.includes(status)) return null;
    events++;
    const time = micros(event[names('timestamp')]) ?? 0;
    const known = last.get(key);
    if (known === undefined || time >= known.time) last.set(key, { status, time });
  }
  if (events === 0) return null;
  const keys = Map.groupBy(last.values(), ({ status }) => status);
  const frequent = [...keys].sort(([, a], [, b]) => b.length - a.length).slice(0, SUGGESTED);
  const suggested = frequent.map(([status, { length }]) => `${JSON.stringify(status)} (${counted(length, 'key')})`);
  return `None of the ${counted(events, 'event')} has a status of the completion list (${completion.join(', ')}), so no key is finished. The most frequent last statuses are ${suggested.join(', ')}; pass those that complete a key, for example --completion ${frequent
    .slice(0, 2)
    .map(([status]) => (/^[\w.-]+$/.test(status) ? status : `'${status}'`))
    .join(',')}`;
}

const REQUIRED = ['unique_key', 'event_status', 'timestamp'];

/** When no line has a member that every event must have: how to say what it is called. */
export function fieldsHint(lines: readonly string[], names: Names = SAME): string | null {
  const objects = lines.map(parse).filter((object) => Object.keys(object).length > 0);
  const [first] = objects;
  if (first === undefined) return null;
  const missing = REQUIRED.filter((member) => objects.every((object) => object[names(member)] === undefined));
  if (missing.length === 0) return null;
  const known = new Set(REQUIRED.map(names));
  const others = Object.keys(first).filter((name) => !known.has(name));
  return `No event has ${listed(missing.map(names))}; the first one has ${listed(others) || 'nothing else'}. If your members have other names, say which: --set EVENT_FIELDS=${missing.map((member) => `${member}=NAME`).join(',')}`;
}

const listed = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ');

/** What a person should know of joins beside the one that is compared. `lines` are what the function join logged. */
export function joinHints(joins: readonly JoinRows[], lines: readonly string[]): string[] {
  const logged = lines.map(parse);
  return joins.map(({ name, topic, rows }) => {
    const last = logged.findLast(({ join, event }) => join === name && ENDS.has(String(event)));
    if (last?.['event'] !== 'join.failed') {
      return `The join ${name} has published ${counted(rows, 'row')} to the topic ${topic} so far; it is your own, so they are not compared.`;
    }
    const { message = '' } = (last['error'] ?? {}) as { message?: string };
    const table = /Not found: Table/.test(message) ? '; --table NAME=FILE gives it a table that it reads' : '';
    return `The join ${name} fails: ${reasonIn(message)}. npm run join -- check shows where${table}.`;
  });
}

/** From the place in the join's folder on, where there is one, and without the names of jobs. */
function reasonIn(message: string): string {
  const place = message.search(/\bjoins\//);
  return message
    .slice(Math.max(0, place))
    .replace(/\bjob \w+: /, '')
    .split('\n')[0]!;
}

const ENDS = new Set(['join.done', 'join.failed']);

export interface JoinRows {
  readonly name: string;
  readonly topic: string;
  readonly rows: number;
}

/** Which reasons dead letters have, the most frequent first. */
export function deadLetterHint(letters: readonly Row[]): string | null {
  if (letters.length === 0) return null;
  const reasons = [...Map.groupBy(letters, reasonOf)].sort(([, a], [, b]) => b.length - a.length);
  const counts = reasons.map(
    ([reason, { length }]) => `${reason || 'no reason given'} (${length.toLocaleString('en-US')})`,
  );
  return `Reasons of the dead letters: ${counts.join(', ')}; docs/errors.md explains each, and the table dead_letters has the messages.`;
}

function parse(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
