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
    // Else every window would begin outside time travel.
    if (join.lookback > config.timeTravel - 2 * config.timeTravelMargin)
      throw new Error(`The join ${name}: lookback must not be longer than TIME_TRAVEL less twice TIME_TRAVEL_MARGIN`);
    joins.set(name, join);
  }
  return joins;
}
