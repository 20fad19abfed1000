import { loadConfig } from '../../functions/config.ts';
import type { EventRow, SummaryRow } from '../../functions/core/event.ts';
import * as finish from '../../functions/finish.ts';
import type { Handler, HttpAnswer } from '../../functions/http/handler.ts';
import * as ingest from '../../functions/ingest.ts';
import type { Document } from '../../functions/ports.ts';
import { FakeBus } from '../fakes/bus.ts';
import { fakeClock } from '../fakes/clock.ts';
import type { Gate } from '../fakes/gate.ts';
import { FakeStore, sizeOf } from '../fakes/store.ts';
import { FakeTable } from '../fakes/tables.ts';

export interface Load {
  readonly keys: number;
  readonly perKey: number;
  /** Bytes of an event's data, about. */
  readonly size: number;
  /** `apart`: each round has one event of each key; `together`: the events of a key come in one burst. */
  readonly arrival: 'apart' | 'together';
  readonly inFlight: number;
}

/** Billable operations that the functions caused, until the states expire, with units as Firestore Enterprise counts them. */
export interface Counted {
  events: number;
  reads: number;
  writes: number;
  deletes: number;
  writeUnits: number;
  deleteUnits: number;
  /** Entries put into and taken out of the one index, on (`shard`, `wake_at`). */
  indexUnits: number;
  readUnits: number;
  appends: number;
  rows: number;
  completions: number;
  summaries: number;
}

const LOG = (): void => undefined;

/** Drives ingest and finish over ports in memory and counts what Google Cloud would bill. */
export async function meter(load: Load): Promise<Counted> {
  const counted: Counted = {
    events: 0,
    reads: 0,
    writes: 0,
    deletes: 0,
    writeUnits: 0,
    deleteUnits: 0,
    indexUnits: 0,
    readUnits: 0,
    appends: 0,
    rows: 0,
    completions: 0,
    summaries: 0,
  };
  const clock = fakeClock();
  const store = new FakeStore();
  const before = new Map<string, Document | null>();
  store.onCommit = (changes) => {
    for (const [path, document] of changes) {
      const was = before.get(path) ?? null;
      if (document !== null) {
        counted.writes++;
        counted.writeUnits += Math.ceil(bytes(path, document) / 1024);
      } else {
        counted.deletes++;
        counted.deleteUnits += Math.ceil(bytes(path, was!) / 1024);
      }
      const [from, to] = [indexEntry(was), indexEntry(document)];
      if (from !== to) counted.indexUnits += Number(from !== null) + Number(to !== null);
      before.set(path, document);
    }
  };
  const gate: Gate = {
    async before(call) {
      // A moment, in which other requests join the next group.
      await new Promise(setImmediate);
      if (call.port === 'events') counted.appends++;
      if (call.port !== 'store' || call.method !== 'get') return;
      for (const path of call.resource.split(' ')) {
        counted.reads++;
        const document = store.read(path);
        counted.readUnits += document === null ? 1 : Math.ceil(bytes(path, document) / 4096);
      }
    },
    after: () => Promise.resolve(),
  };
  const bus = new FakeBus();
  const hints: string[] = [];
  bus.onPublish = (topic, { data }) => {
    if (topic === 'completions') hints.push(String(data));
    else counted.summaries++;
  };
  const events = new FakeTable<EventRow>(() => clock.now());
  const summaries = new FakeTable<SummaryRow>(() => clock.now());
  const ports = {
    clock,
    store: store.port(gate),
    bus: bus.port(gate),
    events: events.port('events', gate),
    summaries: summaries.port('summaries', gate),
  };
  const config = loadConfig({ PROJECT_ID: 'meter-project' });
  const take: Handler = ingest.create({ config, ports, log: LOG });
  const sum: Handler = finish.create({ config, ports, log: LOG });
  const post = async (handler: Handler, data: string): Promise<void> => {
    clock.advance(1000);
    const message = { data: Buffer.from(data).toString('base64'), messageId: '1' };
    const answer: HttpAnswer = await handler(
      { method: 'POST', path: '/', headers: {}, body: { message } } as never,
      LOG,
    );
    if (answer.status >= 300) throw new Error(`answered ${answer.status}`);
  };

  const bodies = [...order(load)].map(([key, n]) => body(key, n, load, clock.now()));
  await inFlight(load.inFlight, bodies, (data) => post(take, data));
  counted.events = bodies.length;
  counted.rows = events.commits.length;
  counted.completions = hints.length;
  await inFlight(load.inFlight, hints, (data) => post(sum, data));
  store.expire(Infinity);
  return counted;
}

function* order({ keys, perKey, arrival }: Load): Generator<[key: number, n: number]> {
  for (let outer = 0; outer < (arrival === 'apart' ? perKey : keys); outer++) {
    for (let inner = 0; inner < (arrival === 'apart' ? keys : perKey); inner++) {
      yield arrival === 'apart' ? [inner, outer] : [outer, inner];
    }
  }
}

function body(key: number, n: number, { perKey, size }: Load, now: number): string {
  const event = {
    unique_key: `order-${String(key).padStart(8, '0')}`,
    event_id: `0b6ec1f2-9d0e-4f7e-8c0e-${String(key).padStart(8, '0')}${String(n).padStart(4, '0')}`,
    event_status: n === perKey - 1 ? 'completed' : `step-${n % 9}`,
    timestamp: now / 1e6 + n,
    payload: '',
  };
  return JSON.stringify({ ...event, payload: 'x'.repeat(Math.max(0, size - JSON.stringify(event).length)) });
}

/** A sparse index of Enterprise has an entry for a document with any of its fields. */
function indexEntry(document: Document | null): string | null {
  const fields = [document?.['shard'], document?.['wake_at']];
  return fields.every((field) => field === undefined) ? null : JSON.stringify(fields);
}

function bytes(path: string, document: Document): number {
  return sizeOf(document) + Buffer.byteLength(path) + 18;
}

async function inFlight(width: number, all: readonly string[], work: (data: string) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < all.length) await work(all[next++]!);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
