import { connect } from './clients.ts';
import { select, type Row } from './demo/observe.ts';
import { runningCloud } from './running.ts';

/** `npm run query -- "SELECT ..."`: asks the running local cloud through the real BigQuery client. */

const WIDTH = 60;

function render(rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) return 'no rows';
  const names = Object.keys(first);
  const cells = rows.map((row) => names.map((name) => text(row[name])));
  const widths = names.map((name, i) => Math.max(name.length, ...cells.slice(0, 1000).map((row) => row[i]!.length)));
  const line = (values: readonly string[]): string =>
    values
      .map((value, i) => value.padEnd(widths[i]!))
      .join('  ')
      .trimEnd();
  return [line(names), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

function text(value: unknown): string {
  const full = value === null ? 'NULL' : typeof value === 'string' ? value : JSON.stringify(value);
  return full.length <= WIDTH ? full : `${full.slice(0, WIDTH - 1)}…`;
}

const [sql] = process.argv.slice(2);
try {
  if (sql === undefined) throw new Error('usage: npm run query -- "SELECT ... FROM events_unique"');
  const clients = connect(await runningCloud());
  process.stdout.write(`${render(await select(clients.bigquery, sql))}\n`);
  await clients.close();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
