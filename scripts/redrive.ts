import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { BigQuery } from '@google-cloud/bigquery';
import { PubSub } from '@google-cloud/pubsub';
import { loadConfig } from '../functions/config.ts';
import { createBus } from '../functions/gcp/pubsub-bus.ts';
import { PROJECT } from '../local/resources.ts';
import { runningCloud } from '../local/running.ts';
import { forgetful, openLedger } from './redrive/ledger.ts';
import { HELP, parseOptions, UsageError, type Options } from './redrive/options.ts';
import { describePlan } from './redrive/report.ts';
import { plan, redrive } from './redrive/run.ts';
import { readTable } from './redrive/table.ts';
import { topicFinder } from './redrive/topics.ts';

/** `npm run redrive`. Exit codes: 0 done, 1 something was not published, 2 wrong command line. */

const STATE = path.resolve(import.meta.dirname, '../.state/redrive');
const say = (text: string) => process.stdout.write(`${text}\n`);

async function main(options: Options): Promise<number> {
  const project = options.project ?? (await useLocalCloud());
  const pubsub = new PubSub({ projectId: project });
  try {
    const file = options.ledger ?? path.join(STATE, `${project}.${options.dataset}.ids`);
    const known = await openLedger(file);
    const ledger = options.again ? forgetful(known) : known;
    const source = await readTable(new BigQuery({ projectId: project }), options, Date.now() * 1000);
    const rules = { limit: options.limit, topicOf: topicFinder(pubsub, options.eventsTopic) };
    const counted = await plan(source, rules, ledger);
    process.stdout.write(`Project ${project}: ${describePlan(counted, source.bytesBilled)}`);
    if (options.dryRun || counted.messages === 0) return 0;
    if (!options.yes && !(await confirmed(`Publish ${counted.messages} messages? [y/N] `))) return 1;

    const { PUBSUB_EMULATOR_HOST = '' } = process.env;
    const bus = createBus({ config: loadConfig({ PROJECT_ID: project, PUBSUB_EMULATOR_HOST }) });
    const result = await redrive(source, rules, ledger, options.rate, {
      publish: (topic, messages) => bus.publish({ name: topic }, messages),
      now: () => Date.now(),
      sleep: (ms) => sleep(ms),
      progress: ({ published, failed }) => say(`${published} of ${counted.messages} published, ${failed} failed`),
    });
    if (result.error === null) return 0;
    say(
      `Not everything was published: ${result.error.message}\nRun the command again: it goes on where this one ended.`,
    );
    return 1;
  } finally {
    await pubsub.close();
  }
}

/** Points the clients at the local cloud that runs. */
async function useLocalCloud(): Promise<string> {
  try {
    Object.assign(process.env, await runningCloud(), { METADATA_SERVER_DETECTION: 'none' });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}, or say --project ID for Google Cloud`);
  }
  return PROJECT;
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
  else process.exitCode = await main(options);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
