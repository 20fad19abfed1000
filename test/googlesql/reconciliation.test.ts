import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DATASET, PROJECT, views } from '../../local/resources.ts';
import { FIXTURE } from './fixture.ts';
import { Local, NOW } from './local.ts';

/** Which keys the view `reconciliation` lists. */

const HOUR = 3600e6;
const DAY = 24 * HOUR;

/** A time so many microseconds before now. */
const ago = (micros: number): string => new Date((NOW - micros) / 1000).toISOString();

interface Key {
  /** How long ago each of its events came. */
  readonly events: readonly number[];
  /** Its summaries, one a generation. */
  readonly summaries?: readonly {
    readonly state: 'finished' | 'expired';
    readonly steps: number;
    readonly start: number;
    readonly written: number;
  }[];
}

type Kept = Parameters<typeof views>[1];

async function listed({ events, summaries = [] }: Key, settings: Record<string, string> = {}, kept: Kept = {}) {
  const local = await Local.start({
    events: {
      columns: FIXTURE['events']!.columns,
      rows: events.map((came, n) => ({ event_id: `e${n}`, unique_key: 'k', event_status: 's', event_time: ago(came), ingest_time: ago(came) })), // prettier-ignore
    },
    summaries: {
      columns: FIXTURE['summaries']!.columns,
      rows: summaries.map(({ state, steps, start, written }, n) => ({ unique_key: 'k', generation: `${n}`, revision: '1', state, complete: 'true', total_steps: `${steps}`, start_time: ago(start), last_event_time: ago(written), late_events: '0', written_at: ago(written) })), // prettier-ignore
    },
  });
  try {
    const { query } = views(settings, kept).find(({ name }) => name === 'reconciliation')!;
    return (await local.query(query.replaceAll(`${PROJECT}.${DATASET}.`, 'ds.'))).length === 1;
  } finally {
    local.stop();
  }
}

const summary = (state: 'finished' | 'expired', steps: number, start: number, written: number) => ({ state, steps, start, written }); // prettier-ignore
const TWO_DAYS = { SILENCE_DEADLINE: '48h' };

test('a finished key whose correction did not come is listed after an hour', async () => {
  const finished = [summary('finished', 1, 5 * DAY, 4 * DAY)];
  assert.equal(await listed({ events: [5 * DAY, 0.9 * HOUR], summaries: finished }), false);
  assert.equal(await listed({ events: [5 * DAY, 1.1 * HOUR], summaries: finished }), true);
  assert.equal(await listed({ events: [5 * DAY, 1.1 * HOUR], summaries: finished }, TWO_DAYS), true);
});

test('a key that speaks after its expired summary is due after the silence deadline, and listed an hour later', async () => {
  const expired = [summary('expired', 1, 5 * DAY, 4 * DAY)];
  assert.equal(await listed({ events: [5 * DAY, 24.9 * HOUR], summaries: expired }), false);
  assert.equal(await listed({ events: [5 * DAY, 25.1 * HOUR], summaries: expired }), true);
  assert.equal(await listed({ events: [5 * DAY, 48.9 * HOUR], summaries: expired }, TWO_DAYS), false);
  assert.equal(await listed({ events: [5 * DAY, 49.1 * HOUR], summaries: expired }, TWO_DAYS), true);
});

test('so is a key without any summary', async () => {
  assert.equal(await listed({ events: [24.9 * HOUR] }), false);
  assert.equal(await listed({ events: [25.1 * HOUR] }), true);
  assert.equal(await listed({ events: [48.9 * HOUR] }, TWO_DAYS), false);
  assert.equal(await listed({ events: [49.1 * HOUR] }, TWO_DAYS), true);
});

test('and a finished key that is used again when its state is forgotten', async () => {
  const finished = [summary('finished', 1, 40 * DAY, 36 * DAY)];
  assert.equal(await listed({ events: [40 * DAY, 2 * HOUR], summaries: finished }), false);
  assert.equal(await listed({ events: [40 * DAY, 26 * HOUR], summaries: finished }), true);
  assert.equal(await listed({ events: [40 * DAY, 2 * HOUR], summaries: finished }, { STATE_RETENTION: '50d' }), true);
});

test('events that summaries have and the table has not are a difference, unless their partition may have expired', async () => {
  const key = { events: [5 * DAY], summaries: [summary('finished', 2, 8 * DAY, 5 * DAY)] };
  assert.equal(await listed(key), true);
  assert.equal(await listed(key, {}, { events_days: 10 }), true);
  assert.equal(await listed(key, {}, { events_days: 8 }), false);
});

test('a key none of whose events is stored is a difference, too', async () => {
  const key = (written: number) => ({ events: [], summaries: [summary('finished', 1, 2 * DAY, written)] });
  assert.equal(await listed(key(0.9 * HOUR)), false);
  assert.equal(await listed(key(1.1 * HOUR)), true);
  assert.equal(await listed(key(1.1 * HOUR), {}, { events_days: 2 }), false);
  assert.equal(await listed(key(1.1 * HOUR), {}, { summaries_days: 1 }), true);
});

test('where events expire, more of them than were summed are a difference all the same', async () => {
  const key = { events: [6 * DAY, 5 * DAY], summaries: [summary('finished', 1, 30 * DAY, 5 * DAY)] };
  assert.equal(await listed(key, {}, { events_days: 8 }), true);
});

test('a key whose first summary may have expired is left out', async () => {
  const key = { events: [50 * DAY, 5 * DAY], summaries: [summary('expired', 1, 5 * DAY, 3 * DAY)] };
  assert.equal(await listed(key), true);
  assert.equal(await listed(key, {}, { summaries_days: 60 }), true);
  assert.equal(await listed(key, {}, { summaries_days: 50 }), false);
});

test('equal numbers are no difference', async () => {
  const key = { events: [50 * DAY, 3 * DAY], summaries: [summary('finished', 1, 50 * DAY, 49 * DAY), summary('expired', 1, 3 * DAY, 2 * DAY)] }; // prettier-ignore
  assert.equal(await listed(key), false);
});
