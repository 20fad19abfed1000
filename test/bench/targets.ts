import { billOfEvents, total, type Edition } from '../../scripts/costs/bill.ts';
import type { Backpressure } from './backpressure.ts';
import type { ColdStarts } from './cold-start.ts';
import type { Joined } from './joined.ts';
import type { LongKey } from './long-key.ts';
import type { Run } from './measure.ts';
import type { Million } from './million.ts';
import type { Readable } from './readable.ts';
import type { TableSize } from './table-size.ts';

export interface Target {
  readonly name: string;
  readonly value: number;
  /** The most, or for names that say "at least" the least. */
  readonly limit: number;
  readonly met: boolean;
}

export interface Results {
  readonly ceiling: Run;
  readonly naive: Run;
  readonly naiveAlone: Run;
  /** Null where the package cannot be had. */
  readonly peer: Run | null;
  /** By requests in flight: 1, 20, 80, 500. */
  readonly codaflow: ReadonlyMap<number, Run>;
  /** All events of one key, at 80 in flight. */
  readonly hot: Run;
  /** Few keys in bursts, at 80 in flight. */
  readonly bursts: Run;
}

/** What takes longer, by name. */
export interface Long {
  readonly 'long-key': LongKey;
  readonly joined: Joined;
  readonly 'table-size': TableSize;
  readonly backpressure: Backpressure;
  readonly readable: Readable;
  readonly starts: ColdStarts;
  readonly million: Million;
}

function atMost(name: string, value: number, limit: number): Target {
  return { name, value: round(value), limit, met: value <= limit };
}

function atLeast(name: string, value: number, limit: number): Target {
  return { name, value: round(value), limit, met: value >= limit };
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}

const sum = (run: Run, ...names: readonly string[]): number =>
  names.reduce((total, name) => total + (run.operations[name] ?? 0), 0);
const failed = (run: Run): number => Object.values(run.failures).reduce((total, n) => total + n, 0);

/** What was promised, against what was measured: ratios within one run of the benchmark. */
export function judge(results: Results): Target[] {
  const { ceiling, naive, naiveAlone, peer, codaflow, hot, bursts } = results;
  const at = (inFlight: number): Run => codaflow.get(inFlight)!;
  const of = (inFlight: number, text: string) => `${text}, ${inFlight} in flight`;
  return [
    ...[80, 500].map((n) =>
      atMost(of(n, 'CPU per event, times the ceiling'), at(n).cpuMicros / ceiling.cpuMicros, 2.5),
    ),
    atLeast('CPU per event of naive, times ours: at least', naive.cpuMicros / at(80).cpuMicros, 12),
    ...(peer === null
      ? []
      : [atLeast('CPU per event of the peer, times ours: at least', peer.cpuMicros / at(80).cpuMicros, 1)]),
    ...[80, 500].map((n) => atMost(of(n, 'BigQuery appends per event'), sum(at(n), 'bigquery.append_requests'), 0.05)),
    atMost('Firestore reads per event, spread keys', sum(at(80), 'firestore.reads'), 1),
    atMost('Firestore writes per event, spread keys', sum(at(80), 'firestore.writes'), 1),
    atMost('Firestore writes per event, bursts on few keys', sum(bursts, 'firestore.writes'), 0.1),
    atMost('p50 of a single event, times naive', at(1).p50 / naiveAlone.p50, 1.3),
    atLeast('events/s of one key, times spread keys: at least', hot.eventsPerSecond / at(80).eventsPerSecond, 0.8),
    atMost('failures of one key', failed(hot), 0),
    atMost(
      'failures, spread keys',
      [...codaflow.values()].reduce((total, run) => total + failed(run), 0),
      0,
    ),
    atMost('bytes of heap kept per event', Math.max(0, at(80).heapGrowth / at(80).events), 16),
    ...(['standard', 'enterprise'] as const).map(dollars),
  ];
}

const LIMITS = { standard: 2.4, enterprise: 1.3 };
const MILLION = { events: 1e6, size: 1024, perKey: 5, arrival: 'apart', inFlight: 80, latency: 100 } as const;

/** Computed, see docs/costs.md. */
function dollars(edition: Edition): Target {
  const name = `dollars for a million events of 1 KB, five of a key, Firestore ${edition}`;
  return atMost(name, total(billOfEvents(MILLION, edition)), LIMITS[edition]);
}

/** The targets of the runs that were made. */
export function judgeLong(long: Partial<Long>): Target[] {
  const { starts, joined, backpressure, readable, million, 'long-key': key, 'table-size': size } = long;
  const targets: Target[] = [];
  if (starts !== undefined) {
    for (const [name, { cpuMs }] of Object.entries(starts.entryPoints)) {
      targets.push(atMost(`cold start of ${name}, CPU, times the bare framework`, cpuMs / starts.bare.cpuMs, 2));
    }
  }
  if (key !== undefined) {
    const of = `a key of ${key.events} events`;
    targets.push(
      atMost(`${of}: failures`, key.failures, 0),
      atMost(`${of}: events that its summary lacks`, Math.abs(key.events + 1 - key.totalSteps), 0),
      atMost(`${of}: bytes of its document`, key.document, 256 * 1024),
      atMost(`${of}: CPU of the last tenth, times the second`, key.growth, 1.3),
      atMost(`${of}: reads per event in the end`, key.reads, 1.1),
      atMost(`${of}: writes per event in the end`, key.writes, 1.1),
    );
  }
  if (joined !== undefined) {
    targets.push(
      atMost(`join of ${joined.rows} rows: rows not published`, joined.rows - joined.published, 0),
      atMost(`join of ${joined.rows} rows: MiB at most`, joined.peakMiB, 512),
      atLeast('join, rows per CPU second, times a bare publisher: at least', joined.perCpuSecond / joined.bare, 0.7),
    );
  }
  if (size !== undefined) {
    const [one, ...larger] = size.bytes;
    for (const [i, bytes] of larger.entries())
      targets.push(
        atMost(`bytes that a join processes, ${size.days[i + 1]} times the table, times 1`, bytes / one!, 1.1),
      );
  }
  if (backpressure !== undefined) {
    const { answers, slowest, peakMiB } = backpressure;
    targets.push(
      atMost('slow services: requests without an answer', answers['error'] ?? 0, 0),
      atMost('slow services: seconds to the slowest answer', slowest / 1000, 60),
      atMost('slow services: MiB at most', peakMiB, 512),
    );
  }
  if (readable !== undefined) {
    targets.push(
      atMost('published to readable, local cloud, p50, ms', readable.p50, 1000),
      atMost('published to readable, local cloud, p99, ms', readable.p99, 3000),
    );
  }
  if (million !== undefined) {
    targets.push(
      atMost(
        `memory over ${million.events} events: MiB that the heap grew`,
        million.heap.at(-1)! - million.heap[0]!,
        2,
      ),
      atMost(`memory over ${million.events} events: MiB at most`, million.peakMiB, 512),
      atMost(`memory over ${million.events} events: failures`, million.failures, 0),
    );
  }
  return targets;
}
