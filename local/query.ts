import { connect } from './clients.ts';
import { select } from './demo/observe.ts';
import { columns } from './demo/words.ts';
import { HELP, parseOptions, UsageError, type QueryOptions } from './query/options.ts';
import { render, renderJson } from './query/table.ts';
import { runningCloud } from './running.ts';

/** `npm run query -- "SELECT ..."`: asks the running local cloud through the real BigQuery client. */

async function main({ sql, json }: QueryOptions): Promise<void> {
  const clients = connect(await runningCloud());
  try {
    const rows = await select(clients.bigquery, sql);
    process.stdout.write(`${json ? renderJson(rows) : render(rows, columns(process.stdout))}\n`);
  } finally {
    await clients.close();
  }
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') process.stdout.write(HELP);
  else await main(options);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
