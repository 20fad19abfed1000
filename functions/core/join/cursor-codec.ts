import { FORMAT, readStored, storedNumber, storedText } from '../stored.ts';
import type { Backfill } from './backfill.ts';
import type { Cursor, Run } from './cursor.ts';
import { MAX_DAYS_PER_MERGE } from './cursor.ts';

/**
 * The stored form of a cursor. Positions are text, so that people read all digits and no client rounds them; the run is
 * JSON text: nothing is queried inside it, and one field is cheaper than a nested map.
 */
export interface StoredCursor {
  readonly [field: string]: string | number | null;
  readonly v: typeof FORMAT;
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
    v: FORMAT,
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

/** @throws TransientError unreadable_state for a document of a newer version, or a damaged one */
export function decodeCursor(document: Readonly<Record<string, unknown>>): Cursor {
  return readStored('the cursor of the join', document['v'], () => read(document));
}

function read(document: Readonly<Record<string, unknown>>): Cursor {
  const number = (name: keyof StoredCursor & string): number => storedNumber(document, name);
  /** What is missing in a document of before it existed is null. */
  const text = (name: keyof StoredCursor & string): string | null =>
    document[name] == null ? null : storedText(document, name);
  const [position, owner, run, backfill] = [text('position'), text('lease_owner'), text('run'), text('backfill')];
  if (position !== null && !Number.isSafeInteger(Number(position))) throw new Error('position is no integer');
  return {
    position: position === null ? null : Number(position),
    token: number('token'),
    lease: owner === null ? null : { owner, token: number('lease_token'), until: number('lease_until') },
    run: run === null ? null : (JSON.parse(run) as Run),
    lastRun: text('last_run'),
    shrink: number('shrink'),
    daysPerMerge: document['days_per_merge'] == null ? MAX_DAYS_PER_MERGE : number('days_per_merge'),
    failures: number('failures'),
    backfill: backfill === null ? null : (JSON.parse(backfill) as Backfill),
  };
}
