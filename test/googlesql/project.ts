import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Days } from '../../functions/core/join/days.ts';
import { parseJoin, type JoinDefaults } from '../../functions/core/join/settings.ts';
import {
  countsSql,
  mergeSql,
  probeSql,
  readSql,
  shapeSql,
  type Reads,
  type Statement,
} from '../../functions/core/join/sql.ts';
import { leftOut } from '../../local/joins.ts';
import { DATASET, PROJECT } from '../../local/resources.ts';
import type { Case } from './statements.ts';

const at = (text: string): number => Date.parse(text) * 1000;
const DEFAULTS: JoinDefaults = {
  topic: 'results',
  lookback: 86_400e6,
  step: 3_600e6,
  lag: 60e6,
  wait: 1_800e6,
  maxBytesBilled: 1e12,
};
const FOLDER = path.join(import.meta.dirname, '../../joins/enrich');
const QUERY = readFileSync(path.join(FOLDER, 'query.sql'), 'utf8').replaceAll('${dataset}', 'p.ds');
const FILE = JSON.parse(readFileSync(path.join(FOLDER, 'join.json'), 'utf8')) as Record<string, unknown>;
const JOINS = [
  parseJoin('enrich', QUERY, FILE, DEFAULTS),
  parseJoin(
    'strict',
    QUERY,
    { ...FILE, unmatched: 'drop', row_key: ['target_attribute'], order: ['target_attribute DESC'] },
    DEFAULTS,
  ),
];
const TABLES = { source: 'p.ds.events', ledger: 'p.ds.joined' };
const DAY = 86_400e6;
const DAYS: readonly Days[] = [
  { days: [at('2026-11-28T00:00:00Z') / DAY, at('2026-11-29T00:00:00Z') / DAY], untimed: true },
  { days: [], untimed: true },
];
const READS: readonly Reads[] = [
  { kind: 'window', start: at('2026-11-29T10:00:00Z'), end: at('2026-11-29T11:45:00Z') },
  { kind: 'scan', from: at('2026-11-29T00:00:00Z'), end: at('2026-11-29T11:45:00Z') },
  {
    kind: 'range',
    from: at('2026-11-28T06:00:00Z'),
    to: at('2026-11-30T00:00:00Z'),
    end: at('2026-11-29T11:45:00Z'),
  },
];

function toCase({ sql, parameters }: Statement): Case {
  const typed = Object.entries(parameters).map(([name, { type, value }]) => {
    const text = typeof value === 'number' ? `${new Date(value / 1000).toISOString().slice(0, 23)}Z` : value;
    return [name, [type, text]] as const;
  });
  return { sql, parameters: Object.fromEntries(typed) };
}

/** The statements of the project's own join, as the functions build them. */
export const JOIN_STATEMENTS: readonly Case[] = JOINS.flatMap((join) =>
  READS.flatMap((reads) => [
    probeSql(join, TABLES, reads),
    ...DAYS.flatMap((days) => [
      mergeSql(join, TABLES, reads, days, 'run-1'),
      countsSql(join, TABLES, reads, days),
      shapeSql(join, TABLES, reads, days),
    ]),
  ]),
)
  .concat(DAYS.map((days) => readSql(TABLES, 'default', 'run-0', days, '')))
  .concat(
    JOINS.map((join) => ({ sql: leftOut(join).query.replaceAll(`${PROJECT}.${DATASET}`, 'p.ds'), parameters: {} })),
  )
  .map(toCase);
