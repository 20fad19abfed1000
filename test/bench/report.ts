import type { ColdStarts } from './cold-start.ts';
import type { Run } from './measure.ts';
import type { Target } from './targets.ts';

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const digits = (value: number, count: number): string => value.toFixed(count);

export function runsTable(runs: readonly Run[]): string {
  const head = [
    '',
    'in flight',
    'events/s',
    'CPU us',
    'p50 ms',
    'p99 ms',
    'calls',
    'appends',
    'reads',
    'writes',
    'MiB',
  ];
  return table([
    head,
    ...runs.map((run) => {
      const per = (name: string) => digits(run.operations[name] ?? 0, 3);
      const calls = Object.entries(run.operations)
        .filter(([name]) => name.startsWith('rpc.'))
        .reduce((sum, [, count]) => sum + count, 0);
      return [
        run.name,
        String(run.inFlight),
        digits(run.eventsPerSecond, 0),
        digits(run.cpuMicros, 0),
        digits(run.p50, 1),
        digits(run.p99, 1),
        digits(calls, 3),
        per('bigquery.append_requests'),
        per('firestore.reads'),
        per('firestore.writes'),
        digits(run.peakMiB, 0),
      ];
    }),
  ]);
}

export function targetsTable(targets: readonly Target[]): string {
  return table([
    ['Target', 'value', 'limit', 'met'],
    ...targets.map(({ name, value, limit, met }) => [name, String(value), String(limit), met ? 'yes' : 'NO']),
  ]);
}

export function startsTable({ bare, entryPoints }: ColdStarts): string {
  return table([
    ['Cold start', 'ms', 'CPU ms', 'of it until it listens'],
    ...Object.entries({ 'bare framework': bare, ...entryPoints }).map(([name, { ms, cpuMs, readyCpuMs }]) => [
      name,
      digits(ms, 0),
      digits(cpuMs, 0),
      digits(readyCpuMs, 0),
    ]),
  ]);
}
