import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config.ts';
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
    const query = readFileSync(path.join(directory, name, 'query.sql'), 'utf8').replaceAll(
      '${dataset}',
      `${config.projectId}.${config.dataset}`,
    );
    const settings = JSON.parse(readFileSync(path.join(directory, name, 'join.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    const join = parseJoin(name, query, settings, {
      topic: config.resultsTopic,
      lookback: config.joinLookback,
      step: config.joinStep,
      lag: config.joinLag,
      wait: config.joinWait,
      maxBytesBilled: config.maxBytesBilled,
    });
    // Else every window would begin outside time travel.
    if (join.lookback > config.timeTravel - 2 * config.timeTravelMargin)
      throw new Error(`The join ${name}: lookback must not be longer than TIME_TRAVEL less twice TIME_TRAVEL_MARGIN`);
    joins.set(name, join);
  }
  return joins;
}
