import type { Firestore } from '@google-cloud/firestore';
import { setTimeout as sleep } from 'node:timers/promises';
import { counted } from './words.ts';

/** What may still be on its way. */
export interface Pending {
  /** Messages that are not acknowledged yet, by subscription. */
  readonly backlog: Readonly<Record<string, number>>;
  /** Keys with a wake-up in the near future: their summary is not confirmed. */
  readonly dueKeys: number;
  /** How far the join has come, epoch microseconds; null before its first run. */
  readonly joinPosition: number | null;
}

export interface QuietOptions {
  readonly look: () => Promise<Pending>;
  /** Called after each look. */
  readonly onLook: (pending: Pending) => void;
  /** Epoch microseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Gives up after so long without any change. */
  readonly stuckMs?: number;
  readonly pauseMs?: number;
}

const STUCK_MS = 300_000;
const PAUSE_MS = 250;

/**
 * Waits until nothing is on its way: no message unacknowledged, no key due, and the join past everything stored.
 *
 * @throws Error that says what it waited for when nothing moves any more
 */
export async function waitUntilQuiet(options: QuietOptions): Promise<void> {
  const { look, now, signal, stuckMs = STUCK_MS, pauseMs = PAUSE_MS } = options;
  let moved = Date.now();
  let last = '';
  /** When the pipeline before the join was first seen empty: all events were stored by then. */
  let storedBy: number | null = null;
  for (;;) {
    const before = now();
    const pending = await look();
    options.onLook(pending);
    if (isEmpty(pending)) storedBy ??= before;
    else storedBy = null;
    if (storedBy !== null && pending.joinPosition !== null && pending.joinPosition >= storedBy) {
      // The join's results were published before its cursor moved: one more look sees them delivered.
      const settled = await look();
      if (isEmpty(settled)) return;
    }
    // The position of a join moves all the time; it is no sign that the rest does.
    const state = JSON.stringify([pending.backlog, pending.dueKeys, storedBy === null ? null : pending.joinPosition]);
    if (state !== last) [moved, last] = [Date.now(), state];
    if (Date.now() - moved > stuckMs)
      throw new Error(`nothing has moved for ${stuckMs / 1000} s: ${describe(pending)}`);
    await sleep(pauseMs, undefined, { signal });
  }
}

function isEmpty({ backlog, dueKeys }: Pending): boolean {
  return dueKeys === 0 && Object.values(backlog).every((messages) => messages === 0);
}

/** What it waits for, in words. */
export function describe({ backlog, dueKeys, joinPosition }: Pending): string {
  const parts = Object.entries(backlog)
    .filter(([, messages]) => messages > 0)
    .map(([name, messages]) => `${counted(messages, 'message')} of ${name}`);
  if (dueKeys > 0) parts.push(counted(dueKeys, 'summary', 'summaries'));
  if (parts.length === 0) parts.push(joinPosition === null ? 'the first run of the join' : 'the join');
  return `waiting for ${parts.join(', ')}`;
}

/** Keys that open deadlines do not explain: their wake-up comes within ten minutes. */
const NEAR = 600_000_000;

export async function dueKeys(firestore: Firestore, now: number): Promise<number> {
  const near = firestore.collection('sequences').where('wake_at', '<=', now + NEAR);
  return (await near.count().get()).data().count;
}

export async function joinPosition(firestore: Firestore, join: string): Promise<number | null> {
  const position: unknown = (await firestore.doc(`cursors/${join}`).get()).get('position');
  return typeof position === 'string' ? Number(position) : null;
}
