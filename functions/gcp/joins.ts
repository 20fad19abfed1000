import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config.ts';
import { JsonFile } from '../core/join/json-file.ts';
import { parseJoin, type JoinSettings } from '../core/join/settings.ts';

/**
 * The joins: a folder each with `query.sql` and `join.json`, beside package.json in the deployed source.
 *
 * @throws Error that names the join and lists every problem
 */
export function loadJoins(config: Config, directory: string): ReadonlyMap<string, JoinSettings> {
  const joins = new Map<string, JoinSettings>();
  const folders = existsSync(directory)
    ? readdirSync(directory, { withFileTypes: true }).filter((f) => f.isDirectory())
    : [];
  for (const { name } of folders) {
    const read = (file: string) => readFileSync(path.join(directory, name, file), 'utf8').replace(/^\uFEFF/, '');
    const query = read('query.sql').replaceAll('${dataset}', `${config.projectId}.${config.dataset}`);
    const file = new JsonFile(`joins/${name}/join.json`, read('join.json'));
    const defaults = {
      topic: config.resultsTopic,
      lookback: config.joinLookback,
      step: config.joinStep,
      lag: config.joinLag,
      wait: config.joinWait,
      maxBytesBilled: config.maxBytesBilled,
    };
    const join = parseJoin(name, query, file.object(), defaults, (member) => file.where(member));
    if (isOwnTopic(join.topic, config))
      throw new Error(
        `${file.where('topic')}topic ${join.topic} is one of Codaflow's own; joined rows need a topic of their own, such as results`,
      );
    // Else every window would begin outside time travel.
    if (join.lookback > config.timeTravel - 2 * config.timeTravelMargin)
      throw new Error(`The join ${name}: lookback must not be longer than TIME_TRAVEL less twice TIME_TRAVEL_MARGIN`);
    joins.set(name, join);
  }
  return joins;
}

/** Whether a topic is one whose messages Codaflow takes or writes itself: joined rows there would be taken for others. */
export function isOwnTopic(topic: string, config: Config): boolean {
  const { eventsTopic, completionsTopic, summariesTopic, deadLettersTopic } = config;
  // No function publishes to the topic of the watches, so no setting names it; the topics share a prefix.
  const watchesTopic = eventsTopic.replace(/events$/, 'watches');
  return [eventsTopic, completionsTopic, summariesTopic, deadLettersTopic, watchesTopic].includes(topic);
}
