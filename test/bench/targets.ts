import type { Run } from './measure.ts';

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
  readonly coldStart: { readonly bare: number; readonly entryPoints: Readonly<Record<string, number>> };
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
  const { ceiling, naive, naiveAlone, peer, codaflow, hot, bursts, coldStart } = results;
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
    ...Object.entries(coldStart.entryPoints).map(([name, ms]) =>
      atMost(`cold start of ${name}, times the bare framework`, ms / coldStart.bare, 2),
    ),
  ];
}
