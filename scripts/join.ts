import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Backfill } from '../functions/core/join/backfill.ts';
import { decodeCursor } from '../functions/core/join/cursor-codec.ts';
import { dollars } from '../functions/core/join/price.ts';
import { runBackfill } from '../functions/join/backfill.ts';
import { checkJoin } from '../functions/join/check.ts';
import type { JoinContext } from '../functions/join/context.ts';
import { contexts } from './join/context.ts';
import { HELP, parseOptions, UsageError, type BackfillOptions, type Options } from './join/options.ts';
import { priceBackfill } from './join/price.ts';

/** `npm run join`. Exit codes: 0 done, 1 something was refused or is left to do, 2 wrong command line. */

const BUSY_TRIES = 60;
const say = (text: string) => process.stdout.write(`${text}\n`);
const date = (micros: number) => new Date(micros / 1000).toISOString();

async function main(options: Options): Promise<number> {
  const all = await contexts(options, ({ severity, event, message }) => {
    if (severity !== 'DEBUG' && severity !== 'INFO') say(`${event}: ${message ?? ''}`);
  });
  const chosen = options.name === null ? all : all.filter(({ join }) => join.name === options.name);
  if (chosen.length === 0)
    throw new UsageError(`there is no join ${options.name}; joins/ has ${all.map(({ join }) => join.name).join(', ')}`);
  return options.command === 'check' ? check(chosen) : backfill(chosen[0]!, options);
}

async function check(joins: readonly JoinContext[]): Promise<number> {
  let bad = 0;
  for (const context of joins) {
    const { join, problem, bytes } = await checkJoin(context);
    if (problem !== null) bad++;
    say(problem ?? `${join}: all statements are accepted; the last lookback would process ${bytes} bytes`);
  }
  return bad === 0 ? 0 : 1;
}

async function backfill(context: JoinContext, options: BackfillOptions): Promise<number> {
  const { join, config } = context;
  const { from, to, days } = options;
  const stored = await context.ports.store.get(`cursors/${join.name}`);
  const begun = stored === null ? null : decodeCursor(stored).backfill;
  const left: Backfill =
    !options.restart && begun?.from === from && begun.to === to ? { ...begun, days } : { from, to, next: from, days };
  const price = await priceBackfill(context, left);
  say(
    `Project ${config.projectId}, join ${join.name}: event times from ${date(left.next)} to ${date(to)} in ${price.steps} ` +
      `steps of at most ${days} days, up to ${price.bytes.toLocaleString('en-US')} bytes, about ${dollars(price.billed)}`,
  );
  if (left.next > from) say(`It goes on with what was begun at ${date(from)}.`);
  if (price.largest > join.maxBytesBilled)
    say(`A step would bill ${price.largest} bytes, ${join.maxBytesBilled} are allowed: such steps are halved.`);
  if (options.dryRun) return 0;
  if (!options.yes && !(await confirmed(`Publish to ${join.topic} what was not published yet? [y/N] `))) return 1;

  const begin = () =>
    runBackfill(context, options, ({ next, published }) => say(`done up to ${date(next)}, ${published} published`));
  let report = await begin();
  // A tick that is alive ends soon.
  for (let i = 0; i < BUSY_TRIES && report.outcome === 'busy'; i++) {
    await sleep(500 + Math.random() * 1000);
    report = await begin();
  }
  switch (report.outcome) {
    case 'done':
      say(`${report.published} published`);
      return 0;
    case 'busy':
      say('A run of the join is alive; try again in a moment.');
      return 1;
    case 'other': {
      const { from: since, to: until, next } = report.found!;
      say(
        `A backfill from ${date(since)} to ${date(until)} stopped at ${date(next)}; end it with these times, or say --restart.`,
      );
      return 1;
    }
  }
}

/** Nobody is asked where nobody can answer. */
async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return true;
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await prompt.question(question);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') process.stdout.write(HELP);
  // The clients keep the process alive for their idle connections.
  else process.exit(await main(options));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof UsageError ? 2 : 1);
}
