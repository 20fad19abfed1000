import type { Backfill } from './backfill.ts';
import type { Cursor, Run } from './cursor.ts';
import { MAX_DAYS_PER_MERGE } from './cursor.ts';

/**
 * The stored form of a cursor. Positions are text, so that people read all digits and no client rounds them; the run is
 * JSON text: nothing is queried inside it, and one field is cheaper than a nested map.
 */
export interface StoredCursor {
  readonly [field: string]: string | number | null;
  readonly v: 1;
  readonly position: string | null;
  readonly token: number;
  readonly lease_owner: string | null;
  readonly lease_token: number | null;
  readonly lease_until: number | null;
  readonly run: string | null;
  readonly last_run: string | null;
  readonly shrink: number;
  readonly days_per_merge: number;
  readonly failures: number;
  readonly backfill: string | null;
}

export function encodeCursor(cursor: Cursor): StoredCursor {
  return {
    v: 1,
    position: cursor.position === null ? null : String(cursor.position),
    token: cursor.token,
    lease_owner: cursor.lease?.owner ?? null,
    lease_token: cursor.lease?.token ?? null,
    lease_until: cursor.lease?.until ?? null,
    run: cursor.run === null ? null : JSON.stringify(cursor.run),
    last_run: cursor.lastRun,
    shrink: cursor.shrink,
    days_per_merge: cursor.daysPerMerge,
    failures: cursor.failures,
    backfill: cursor.backfill === null ? null : JSON.stringify(cursor.backfill),
  };
}

/** @throws Error for a document of a newer version */
export function decodeCursor(document: Readonly<Record<string, unknown>>): Cursor {
  const stored = document as unknown as StoredCursor;
  if (stored.v !== 1)
    throw new Error(`cursor has version ${String(document['v'])}, this code reads version 1; deploy the newer code`);
  return {
    position: stored.position === null ? null : Number(stored.position),
    token: stored.token,
    lease:
      stored.lease_owner === null
        ? null
        : { owner: stored.lease_owner, token: stored.lease_token!, until: stored.lease_until! },
    run: stored.run === null ? null : (JSON.parse(stored.run) as Run),
    lastRun: stored.last_run,
    shrink: stored.shrink,
    daysPerMerge: stored.days_per_merge ?? MAX_DAYS_PER_MERGE,
    failures: stored.failures,
    backfill: stored.backfill == null ? null : (JSON.parse(stored.backfill) as Backfill),
  };
}
