import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The join whose rows a verdict compares; others of `joins/` run, too. */
export const JOIN = 'enrich';

const FOLDER = path.resolve(import.meta.dirname, '../../joins', JOIN);
/** Of the SQL that the expectation is written for, without comments and spaces. */
const KNOWN = 'c94c5e7c3f7f447c';

/** Whether the join is the one that the expectation is written for: one's own SQL gives what nobody here can know. */
export function isKnownJoin(folder = FOLDER): boolean {
  const { unmatched = 'wait', row_key } = JSON.parse(readFileSync(path.join(folder, 'join.json'), 'utf8')) as {
    unmatched?: string;
    row_key?: unknown;
  };
  return unmatched === 'wait' && row_key === undefined && hash(folder) === KNOWN;
}

function hash(folder: string): string {
  const sql = readFileSync(path.join(folder, 'query.sql'), 'utf8').replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim();
  return createHash('sha256').update(sql).digest('hex').slice(0, 16);
}
