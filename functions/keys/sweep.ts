import { toError } from '../core/errors.ts';
import type { Micros } from '../core/event.ts';
import type { End } from '../end.ts';
import type { Log } from '../log.ts';
import type { Ports } from '../ports.ts';
import { eachLimited } from './limit.ts';
import { pushBack, STUCK_AFTER, type Found } from './wake.ts';

export interface SweepCounts {
  /** Documents pushed back and hinted at. */
  woken: number;
  /** Documents that somebody else had moved meanwhile. */
  moved: number;
  /** Of the woken: those without progress for long. */
  stuck: number;
  /** Reads, transactions or hints that failed; the next run finds what they left. */
  failed: number;
  /** Shards that may have wake-ups left when the time was over. */
  unfinished: number;
  /** Documents that wait for a wake-up, due or not, counted up to OPEN_COUNTED; null when that failed. */
  open: number | null;
}

/** A thousand of them cost one read. */
export const OPEN_COUNTED = 100_000;

/** One kind of document with wake-ups (`wake_at`, `shard`, `attempts`). */
export interface SweepKind {
  readonly collection: string;
  /** For log lines. */
  name(found: Found): string;
  /** Tells whoever acts on them, by `end`; returns the failures. Only a hint: a lost one is repeated by the next wake-up. */
  hint(found: readonly Found[], end: End): Promise<readonly Error[]>;
}

export interface SweepSettings {
  readonly shards: number;
  readonly sweepPage: number;
}

const SHARDS_AT_ONCE = 4;
const DOCUMENTS_AT_ONCE = 10;

/**
 * Wakes every document of a kind whose time has come, as far as it gets by `end`. Safe to run twice at once. Shards take
 * turns page by page, and each run begins with another one, so that a crowded shard never starves the others.
 */
export async function sweep(
  ports: Pick<Ports, 'store' | 'clock'>,
  settings: SweepSettings,
  kind: SweepKind,
  end: End,
  log: Log,
): Promise<SweepCounts> {
  const { clock } = ports;
  const { store } = end.guard(ports);
  // Whoever is pushed back shall be hinted at, too.
  const pushing = end.before(1);
  const counts: SweepCounts = { woken: 0, moved: 0, stuck: 0, failed: 0, unfinished: 0, open: null };
  const before = clock.now();

  function failed(error: Error, about: Readonly<Record<string, unknown>>): void {
    counts.failed++;
    log({ severity: 'WARNING', event: 'sweep.failed', collection: kind.collection, error, ...about });
  }

  /** Resolves to what has to be hinted at. */
  async function wake(found: Found): Promise<Found | null> {
    if (!pushing.fits()) return null;
    try {
      const attempts = await pushBack(store, found, () => clock.now());
      if (attempts === null) {
        counts.moved++;
        return null;
      }
      counts.woken++;
      if (attempts >= STUCK_AFTER) {
        counts.stuck++;
        log({
          severity: 'ERROR',
          event: 'sweep.stuck',
          message: `${attempts} wake-ups without progress`,
          collection: kind.collection,
          name: kind.name(found),
          attempts,
        });
      }
      return found;
    } catch (thrown) {
      failed(toError(thrown), { name: kind.name(found) });
      return null;
    }
  }

  /** One page of a shard; returns where the next one begins, null after the last. */
  async function page(turn: Turn): Promise<Turn | null> {
    const { shard, after } = turn;
    const limit = settings.sweepPage;
    try {
      const query = { collection: kind.collection, shard, before, limit };
      const found = await store.due(after === undefined ? query : { ...query, after });
      const woken = await eachLimited(found, DOCUMENTS_AT_ONCE, wake);
      const hinted = woken.filter((one) => one !== null);
      if (hinted.length > 0) for (const error of await kind.hint(hinted, end)) failed(error, { shard });
      if (!pushing.fits()) return turn;
      const last = found.at(-1);
      if (last === undefined || found.length < limit) return null;
      return { shard, after: { wakeAt: Number(last.document['wake_at']), path: last.path } };
    } catch (thrown) {
      failed(toError(thrown), { shard });
      return null;
    }
  }

  let turns: Turn[] = firstTurns(settings.shards, before);
  while (turns.length > 0) {
    const next = await eachLimited(turns, SHARDS_AT_ONCE, async (turn) => (pushing.fits() ? page(turn) : turn));
    turns = next.filter((turn) => turn !== null);
    if (!pushing.fits()) break;
  }
  counts.unfinished = turns.length;
  // Only told, so it fails nothing.
  counts.open = await store.waiting(kind.collection, OPEN_COUNTED).catch(() => null);
  return counts;
}

interface Turn {
  readonly shard: number;
  readonly after?: { readonly wakeAt: Micros; readonly path: string };
}

function firstTurns(shards: number, now: Micros): Turn[] {
  const first = Math.floor(now / 60e6) % shards;
  return Array.from({ length: shards }, (_, i) => ({ shard: (first + i) % shards }));
}
