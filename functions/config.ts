import { longestCall } from './end.ts';
import { SETTINGS, type Config, type Setting } from './settings.ts';

export type { Config } from './settings.ts';

/** All problems of a configuration at once; the message has a line for each, with the value that was found. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length} problem(s):\n${problems.map((p) => `- ${p}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** The functions' timeout less what the start of an instance, a body and an answer may take. */
const LONGEST_REQUEST = 55e6;

/** Times that nothing works without. */
const POSITIVE = ['claim', 'joinLease', 'joinStep', 'portDeadline', 'retention'] as const;

/** Conditions between settings: text of the problem, or null. */
const RULES: readonly ((c: Config) => string | null)[] = [
  (c) => (c.joinWait > c.joinLookback ? 'JOIN_WAIT must not be longer than JOIN_LOOKBACK' : null),
  (c) =>
    c.joinLookback > c.timeTravel - 2 * c.timeTravelMargin
      ? 'JOIN_LOOKBACK must not be longer than TIME_TRAVEL less twice TIME_TRAVEL_MARGIN'
      : null,
  (c) =>
    c.requestBudget > LONGEST_REQUEST
      ? 'REQUEST_BUDGET must not be longer than 55s: the functions end after 60s'
      : null,
  (c) => {
    const call = longestCall(c);
    const fits = 4 * call <= c.requestBudget && 2 * call <= c.groupBudget && c.groupBudget + call < c.requestBudget;
    return fits
      ? null
      : 'PORT_DEADLINE and 1s must fit twice into GROUP_BUDGET, four times into REQUEST_BUDGET, and once beside GROUP_BUDGET into REQUEST_BUDGET';
  },
  (c) => (c.settle > c.settleMax ? 'SETTLE must not be longer than SETTLE_MAX' : null),
  (c) => {
    const bytes = largestState(c);
    return bytes > 1_000_000
      ? `STEPS_BYTES, IDS_INLINE and SUMMARY_FIELDS let the state of a key grow to ${bytes} bytes; a Firestore document holds 1 MiB`
      : null;
  },
  (c) => {
    const none = POSITIVE.filter((name) => c[name] === 0).map((name) => SETTINGS[name].env);
    return none.length > 0 ? `${none.join(', ')} must be longer than 0s` : null;
  },
  (c) =>
    c.partitioning === 'HOUR' && (c.partitionExpiration === 0 || c.partitionExpiration > 400 * 86_400e6)
      ? 'EVENTS_PARTITIONING=HOUR needs EVENTS_PARTITION_EXPIRATION of at most 400d: a table has at most 10,000 partitions'
      : null,
];

/**
 * Bytes that the document of one key can grow to. Steps and aggregates are in the fold and in the claim; the numbers are
 * at most a bitmap of a million bits; the rest is the key, the latest completion event and framing.
 */
function largestState({ stepsBytes, idsInline, summaryFields }: Config): number {
  return 2 * stepsBytes + 20 * idsInline + 125_000 + 6500 * summaryFields.length + 16_000;
}

/**
 * Parses the environment.
 *
 * @throws ConfigError that lists every problem
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(SETTINGS) as [string, Setting<unknown>][]) {
    const text = env[setting.env] ?? setting.fallback;
    if (text === undefined) {
      problems.push(`${setting.env} is not set: ${setting.about}`);
      continue;
    }
    try {
      values[name] = setting.parse(text);
    } catch (error) {
      problems.push(`${setting.env}: ${(error as Error).message}, got ${JSON.stringify(text)}`);
    }
  }
  const config = values as unknown as Config;
  if (problems.length === 0) problems.push(...RULES.map((rule) => rule(config)).filter((problem) => problem !== null));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** The settings that differ from their defaults, as they were given, for the line logged at start. Secrets are masked. */
export function describeConfig(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const setting of Object.values(SETTINGS) as Setting<unknown>[]) {
    const text = env[setting.env];
    if (text !== undefined && text !== setting.fallback) {
      shown[setting.env] = /SECRET|TOKEN|PASSWORD|_KEY$/.test(setting.env) ? '***' : text;
    }
  }
  return shown;
}
