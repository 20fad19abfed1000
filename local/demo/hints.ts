import type { Row } from './observe.ts';
import { micros } from './time.ts';
import { reasonOf } from './verdict.ts';
import { counted } from './words.ts';

/** What a person should know beside a verdict, in a sentence each. */

const SUGGESTED = 4;

/** When none of these events completes its key: the statuses that probably do. */
export function completionHint(lines: readonly string[], completion: readonly string[]): string | null {
  const last = new Map<string, { readonly status: string; readonly time: number }>();
  let events = 0;
  for (const line of lines) {
    const event = parse(line);
    const { unique_key: key, event_status: status } = event;
    if (typeof key !== 'string' || typeof status !== 'string') continue;
    if (completion.includes(status)) return null;
    events++;
    const time = micros(event['timestamp']) ?? 0;
    const known = last.get(key);
    if (known === undefined || time >= known.time) last.set(key, { status, time });
  }
  if (events === 0) return null;
  const keys = Map.groupBy(last.values(), ({ status }) => status);
  const frequent = [...keys].sort(([, a], [, b]) => b.length - a.length).slice(0, SUGGESTED);
  const names = frequent.map(([status, { length }]) => `${JSON.stringify(status)} (${counted(length, 'key')})`);
  return `None of the ${counted(events, 'event')} has a status of the completion list (${completion.join(', ')}), so no key is finished. The most frequent last statuses are ${names.join(', ')}; pass those that complete a key, for example --completion ${frequent
    .slice(0, 2)
    .map(([status]) => (/^[\w.-]+$/.test(status) ? status : `'${status}'`))
    .join(',')}`;
}

/** Which reasons dead letters have, the most frequent first. */
export function deadLetterHint(letters: readonly Row[]): string | null {
  if (letters.length === 0) return null;
  const reasons = [...Map.groupBy(letters, reasonOf)].sort(([, a], [, b]) => b.length - a.length);
  const listed = reasons.map(
    ([reason, { length }]) => `${reason || 'no reason given'} (${length.toLocaleString('en-US')})`,
  );
  return `Reasons of the dead letters: ${listed.join(', ')}; docs/errors.md explains each, and the table dead_letters has the messages.`;
}

function parse(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
