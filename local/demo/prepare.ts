import { SAME, type Names } from './fields.ts';
import { members } from './members.ts';
import { seeded } from './random.ts';
import { DAY, micros, shiftDays } from './time.ts';

export interface PrepareOptions {
  /** Epoch microseconds. */
  readonly now: number;
  /** Leaves the times as they are. */
  readonly asRecorded: boolean;
  /** Delays each event by up to a minute of the replay's order. */
  readonly shuffle: number | null;
  /** This share of the events is published again. */
  readonly repeat: number;
  /** Moves the times by so many days, whatever the day is. */
  readonly days: number | null;
  readonly names?: Names;
}

export interface Prepared {
  /** Bodies of the messages in the order of their publication. */
  readonly lines: readonly string[];
  /** How many of them repeat another one. */
  readonly repeats: number;
  /** Whole days that all times were moved by. */
  readonly days: number;
}

const DELAY = 60_000_000;

/** Turns recorded lines into the messages to publish. The same lines, options and day give the same messages. */
export function prepare(lines: readonly string[], options: PrepareOptions): Prepared {
  const timestamp = (options.names ?? SAME)('timestamp');
  const times = lines.map((line) => timeOf(line, timestamp));
  const last = times.reduce<number | null>(
    (max, time) => (time !== null && (max === null || time > max) ? time : max),
    null,
  );
  const days = options.asRecorded || last === null ? 0 : (options.days ?? Math.floor((options.now - last) / DAY));
  const random = seeded(options.shuffle ?? 1);
  const delay = (): number => Math.floor(random() * DELAY);
  const queue: { at: number; line: string }[] = [];
  let previous = 0;
  let repeats = 0;
  for (const [index, line] of lines.entries()) {
    // A line without a readable time goes where it stood.
    const at = times[index] ?? previous;
    previous = at;
    const shifted = days === 0 ? line : shift(line, timestamp, days);
    queue.push({ at: options.shuffle === null ? at : at + delay(), line: shifted });
    if (random() < options.repeat) {
      repeats++;
      queue.push({ at: at + delay(), line: shifted });
    }
  }
  // Recorded order stays as it is unless the run asks for another one.
  if (options.shuffle !== null || options.repeat > 0) queue.sort((a, b) => a.at - b.at);
  return { lines: queue.map(({ line }) => line), repeats, days };
}

function timeOf(line: string, timestamp: string): number | null {
  const object = parse(line);
  return object === null ? null : micros(object[timestamp]);
}

/** Moves the timestamp and leaves every other byte alone. */
function shift(line: string, member: string, days: number): string {
  const object = parse(line);
  const timestamp = object?.[member];
  if (typeof timestamp !== 'string' && typeof timestamp !== 'number') return line;
  const span = members(line).findLast(({ name }) => name === member)!;
  return line.slice(0, span.start) + JSON.stringify(shiftDays(timestamp, days)) + line.slice(span.end);
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
