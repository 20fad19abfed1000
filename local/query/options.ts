import { parseArgs } from 'node:util';

export interface QueryOptions {
  readonly sql: string;
  readonly json: boolean;
}

export const HELP = `npm run -s query -- [--json] "SELECT ..."

Asks the local cloud of npm start through the real BigQuery client and prints the rows. It only reads: SELECT or WITH.

  npm run -s query -- "SELECT * FROM events_unique LIMIT 5"
  npm run -s query -- "SELECT state, COUNT(*) AS n FROM summaries_latest GROUP BY state"
  npm run -s query -- "SELECT SAFE_CONVERT_BYTES_TO_STRING(data) AS data, attributes FROM dead_letters"
  npm run -s query -- --json "SELECT * FROM joined" | jq .

Tables: events, summaries, joined, dead_letters, reference. Views: events_unique (each event once), summaries_latest (one
row a key), reconciliation (keys that lack events; no rows is good), JOIN_left_out (events that a join has no row of). And
the tables of --table NAME=FILE.

  --json    the rows as a JSON array, a row a line
  --help    this text

On a terminal, rows that are wider than it are printed one column a line; nothing is ever cut. Exit code: 0, 1 when there
is no local cloud or the query fails, 2 for a wrong command line.
`;

/** A wrong command line; the message is one line for the person who typed it. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parseOptions(args: readonly string[]): QueryOptions | 'help' {
  const { values, positionals } = parse(args);
  if (values.help === true) return 'help';
  const [sql, ...more] = positionals;
  if (sql === undefined || sql.trim() === '') throw new UsageError('name a query: npm run -s query -- "SELECT ..."');
  if (more.length > 0) throw new UsageError('put the query into quotes: npm run -s query -- "SELECT ..."');
  if (!isReadOnly(sql)) {
    throw new UsageError('this command only reads: the query must begin with SELECT or WITH');
  }
  return { sql, json: values.json ?? false };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.replace(/\. To specify.*$/s, '')} (--help lists the options)`);
  }
}

/** The first word decides: GoogleSQL has no statement that begins with one of these and writes. */
export function isReadOnly(sql: string): boolean {
  const start = sql.replace(/^(\s+|--[^\n]*(\n|$)|#[^\n]*(\n|$)|\/\*[^]*?\*\/|\()+/, '');
  return /^(select|with)\b/i.test(start);
}
