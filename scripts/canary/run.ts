import type { Config } from '../../functions/config.ts';

/** What of a canary is there. */
export interface Found {
  /** Its row is in the view `events_unique`. */
  readonly event: boolean;
  /** The summary of its key is in the view `summaries_latest`. */
  readonly summary: boolean;
}

export interface Surroundings {
  readonly publish: (event: Readonly<Record<string, unknown>>) => Promise<void>;
  /** `since` is a time before which nothing of it can be. */
  readonly find: (key: string, since: Date) => Promise<Found>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

const LOOK_EVERY_MS = 5000;
/** How far this machine's clock may be ahead of Google's. */
const SKEW_MS = 3_600_000;

/**
 * Publishes one event that completes a key of its own, and looks for what must come of it until all is there, or for so
 * many milliseconds. Resolves to what was there in the end.
 */
export async function canary(
  { publish, find, now, sleep }: Surroundings,
  { eventFields, completionStatuses }: Pick<Config, 'eventFields' | 'completionStatuses'>,
  waitMs: number,
): Promise<Found & { readonly key: string }> {
  const begin = now();
  const time = new Date(begin);
  const key = `codaflow-canary-${time.toISOString()}`;
  await publish({
    [eventFields.unique_key]: key,
    [eventFields.event_id]: 'canary',
    [eventFields.event_status]: completionStatuses[0]!,
    [eventFields.timestamp]: time.toISOString(),
  });
  for (;;) {
    const found = await find(key, new Date(begin - SKEW_MS));
    if ((found.event && found.summary) || now() - begin >= waitMs) return { ...found, key };
    await sleep(LOOK_EVERY_MS);
  }
}
