import { formatMicros } from '../time.ts';
import type { WatchState } from './state.ts';
import { outcomeEventId } from './watch.ts';

type EventMembers = Readonly<Record<'unique_key' | 'event_status' | 'timestamp' | 'event_id' | 'payload', string>>;

/**
 * The JSON text of the event that tells the outcome; null while there is none. A repeat is the same to the byte. The
 * answer of the probe is the payload, as it came; the member `watch` (`watch_` where an
 * event calls another so) says which watch it was and why it ended.
 */
export function outcomeEvent(state: WatchState, names: EventMembers): string | null {
  const { outcome, spec, attempt } = state;
  if (outcome === null) return null;
  let about = 'watch';
  // A member of the event may have that name.
  while (Object.values(names).includes(about)) about += '_';
  const members: [string, string][] = [
    [names.unique_key, JSON.stringify(spec.uniqueKey)],
    [names.event_status, JSON.stringify(spec.statuses[outcome.kind])],
    [names.timestamp, JSON.stringify(formatMicros(outcome.at))],
    [names.event_id, JSON.stringify(outcomeEventId(state))],
    ...(outcome.answer === null ? [] : [[names.payload, outcome.answer] as [string, string]]),
    [about, JSON.stringify({ watch_id: spec.watchId, outcome: outcome.kind, reason: outcome.reason, attempts: attempt })], // prettier-ignore
  ];
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}
