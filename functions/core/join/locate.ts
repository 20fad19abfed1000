import type { JoinSettings } from './settings.ts';

/** `at [line:column]`, as BigQuery ends most of its messages about a statement. */
const POSITION = /\s*\bat \[(\d+):(\d+)\]/;

/**
 * A message about a composed statement, told in terms of the join's own file: `joins/NAME/query.sql:LINE: reason` with
 * the line itself. Where the position is outside the file, the reason is about what the SELECT returns, or about a
 * column named in the settings.
 */
export function locate(join: JoinSettings, sql: string, message: string): string {
  const file = `joins/${join.name}/query.sql`;
  const found = POSITION.exec(message);
  const begin = sql.indexOf(join.query);
  if (found === null || begin < 0) return message;
  const reason = message.replace(POSITION, '');
  const first = sql.slice(0, begin).split('\n').length;
  const lines = join.query.split('\n');
  const line = Number(found[1]) - first;
  // What is wrong with the file's end (a bracket too few, say) shows at the first word after it.
  if (line === lines.length) return `${file}:${lines.length}: ${reason} (at the end of the SELECT)`;
  const text = lines[line];
  if (text !== undefined) return `${file}:${line + 1}: ${reason}\n  ${text.trim()}`;
  const around = sql.split('\n')[Number(found[1]) - 1] ?? '';
  return (
    `${file}: ${reason}\n  The SELECT must return unique_key, event_id, enriched BOOL and every column that ` +
    `joins/${join.name}/join.json names; the statement around it fails at: ${around.trim()}`
  );
}
