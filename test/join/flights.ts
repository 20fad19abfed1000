import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { AmbiguousError, TransientError } from '../../functions/core/errors.ts';
import type { JoinSettings } from '../../functions/core/join/settings.ts';
import { type Gate } from '../fakes/gate.ts';
import { JoinCloud, text } from './cloud.ts';

/** Flights joined with airlines and with planes: recorded events, two joins, seeded faults. */

const SAMPLE = path.resolve(import.meta.dirname, '../../local/sample');
const lines = (content: string) => content.split('\n').filter((line) => line !== '');
const zipped = (file: string) => lines(gunzipSync(readFileSync(file)).toString());

export interface Flight {
  readonly event_id: string;
  readonly unique_key: string;
  readonly event_status: string;
  readonly timestamp: string;
  readonly join_key: string;
  readonly payload: Readonly<Record<string, unknown>>;
}
export interface Row {
  readonly join_key: string;
  readonly [member: string]: unknown;
}

export const FLIGHTS = zipped(path.join(SAMPLE, 'flights.ndjson.gz')).map((line) => JSON.parse(line) as Flight);
export const AIRLINES = zipped(path.join(SAMPLE, 'airlines.ndjson.gz')).map((line) => JSON.parse(line) as Row);
/** The planes of every sixteenth flight; of tidyverse/nycflights13, CC0. */
export const PLANES = lines(readFileSync(path.join(import.meta.dirname, 'planes.ndjson'), 'utf8')).map(
  (line) => JSON.parse(line) as Row,
);

/** The joins of examples/, whose SQL both the tests and a reader may take. */
const EXAMPLES = path.resolve(import.meta.dirname, '../../examples/joins');
const query = (name: string) => readFileSync(path.join(EXAMPLES, name, 'query.sql'), 'utf8');

/** Columns of the table `planes`, of those that its rows have. */
export const PLANE_FIELDS = [
  { name: 'join_key', type: 'STRING' },
  { name: 'model', type: 'STRING' },
  { name: 'year', type: 'INTEGER' },
];
export const planeRows = (planes: readonly Row[]): Row[] =>
  planes.map(({ join_key, model, year }) => ({ join_key, model, year }));

/** Numbers in [0, 1) from a seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Outcome {
  readonly results: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Messages that repeat a result id. */
  readonly repeats: number;
  /** Crashes and lost answers: what a repeat may follow. */
  readonly causes: number;
  readonly refusals: number;
  readonly conflicts: number;
}

/** Replays flights, shuffled and with repeats, through both joins under faults; what was received by join and event. */
export async function replay(
  flights: readonly Flight[],
  planes: readonly Row[],
  seed: number,
  faultRate: number,
): Promise<Outcome> {
  const cloud = await JoinCloud.start();
  try {
    const dice = random(seed);
    const joins = [
      cloud.join('airlines', query('airlines'), { topic: 'airlines', wait: '0s' }),
      cloud.join('planes', query('planes'), { topic: 'planes', wait: '0s' }),
    ];
    await cloud.client.dataset('codaflow').createTable('planes', { schema: { fields: PLANE_FIELDS } });
    await cloud.bigquery.insertRows('codaflow.planes', planeRows(planes));
    for (const airline of AIRLINES) await cloud.reference(airline.join_key, String(airline['name']));
    const counts = { causes: 0, refusals: 0 };
    for (const join of joins) await cloud.tick(join);

    const repeated = [...flights, ...flights.filter(() => dice() < 0.05)];
    const shuffled = repeated.map((flight) => ({ flight, at: dice() })).sort((a, b) => a.at - b.at);
    // As recorded they lie outside the streaming range: all times move by whole days.
    const shift = Math.floor((cloud.now / 1000 - Date.parse('2015-01-02T00:00:00Z')) / 86_400_000) * 86_400e6;
    const batches = 8;
    for (let i = 0; i < batches; i++) {
      const batch = shuffled.filter((_, n) => n % batches === i);
      await cloud.insert(
        ...batch.map(({ flight }) => ({
          ...{ event_id: flight.event_id, unique_key: flight.unique_key, event_status: flight.event_status },
          event_time: text(Date.parse(flight.timestamp) * 1000 + shift),
          join_key: flight.join_key,
          payload: JSON.stringify(flight.payload),
        })),
      );
      for (const join of joins) await faultyTick(cloud, join, dice, faultRate, counts);
    }
    for (let i = 0; i < 3; i++) {
      cloud.advance(180);
      for (const join of joins) await cloud.tick(join, { JOIN_PAGE: '50' });
    }
    return { ...received(cloud, joins), ...counts };
  } finally {
    await cloud.stop();
  }
}

async function faultyTick(
  cloud: JoinCloud,
  join: JoinSettings,
  dice: () => number,
  rate: number,
  counts: { causes: number; refusals: number },
): Promise<void> {
  cloud.advance(180);
  let crash!: () => void;
  const crashed = new Promise<void>((resolve) => (crash = resolve));
  const stop = (): Promise<void> => {
    counts.causes++;
    crash();
    return new Promise(() => undefined);
  };
  const gate: Gate = {
    before: async () => {
      const throwing = dice();
      if (throwing < rate) {
        counts.refusals++;
        throw new TransientError('unavailable', 'refused');
      }
      if (throwing < 2 * rate) await stop();
    },
    after: async () => {
      const throwing = dice();
      if (throwing < rate) {
        counts.causes++;
        throw new AmbiguousError('lost');
      }
      if (throwing < 2 * rate) await stop();
    },
  };
  await Promise.race([cloud.tick(join, { JOIN_PAGE: '50' }, gate).catch(() => undefined), crashed]);
}

function received(
  cloud: JoinCloud,
  joins: readonly JoinSettings[],
): Pick<Outcome, 'results' | 'repeats' | 'conflicts'> {
  const contents = new Map<string, string>();
  const results = new Map<string, Map<string, string>>();
  let [repeats, conflicts] = [0, 0];
  for (const { name, topic } of joins) {
    const byEvent = new Map<string, string>();
    for (const { attributes, data } of cloud.bus.published(topic)) {
      const id = attributes['result_id']!;
      const known = contents.get(id);
      if (known !== undefined) repeats++;
      if (known !== undefined && known !== String(data)) conflicts++;
      contents.set(id, String(data));
      const { unique_key, event_id } = JSON.parse(String(data)) as Flight;
      byEvent.set(JSON.stringify([unique_key, event_id]), String(data));
    }
    results.set(name, byEvent);
  }
  return { results, repeats, conflicts };
}

/** What must come out, from the files alone. */
export function expected(flights: readonly Flight[], planes: readonly Row[]): Outcome['results'] {
  const names = new Map(AIRLINES.map((row) => [row.join_key, row['name']]));
  const tails = new Map(planes.map((row) => [row.join_key, row]));
  const fold = (columns: (flight: Flight) => object) =>
    new Map(
      flights.map((flight) => {
        const { unique_key, event_id } = flight;
        return [
          JSON.stringify([unique_key, event_id]),
          JSON.stringify({ unique_key, event_id, ...columns(flight) }),
        ] as const;
      }),
    );
  return new Map([
    ['airlines', fold(({ join_key }) => ({ airline: names.get(join_key) ?? null, enriched: names.has(join_key) }))],
    [
      'planes',
      fold(({ payload }) => {
        const plane = tails.get(String(payload['tail']));
        return { model: plane?.['model'] ?? null, year: plane?.['year'] ?? null, enriched: plane !== undefined };
      }),
    ],
  ]);
}
