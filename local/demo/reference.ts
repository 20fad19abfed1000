import { isObject, nameOf, type Line } from './input.ts';
import { InputError } from './options.ts';

/** A row of the local reference table; columns as in terraform/schemas/reference.json. */
export interface ReferenceRow {
  readonly join_key: string;
  readonly target_attribute: string | null;
  readonly updated_at: string | null;
}

const SUCH = '{"join_key": "AA", "name": "..."}';

/**
 * Reference rows of any shape: `target_attribute` is the member of that name, else the text of the only other member,
 * else the JSON text of the other members.
 *
 * @throws InputError that names the line that is no object or has no `join_key`
 */
export function toReference(lines: readonly Line[], file: string, now: string): ReferenceRow[] {
  const rows = lines.map(({ text, number }) => {
    const wrong = (what: string): Error => new InputError(`${nameOf(file)}, line ${number}: ${what}`);
    if (!isObject(text)) throw wrong(`no JSON object; a reference row is one, such as ${SUCH}`);
    const { join_key, updated_at, ...others } = JSON.parse(text) as Record<string, unknown>;
    if (typeof join_key !== 'string') throw wrong(`"join_key" is missing or is no text; a reference row is ${SUCH}`);
    return {
      join_key,
      target_attribute: targetAttribute(others),
      updated_at: typeof updated_at === 'string' ? updated_at : now,
    };
  });
  // Of repeated keys the latest counts, of equally late ones the last.
  const latest = new Map<string, ReferenceRow>();
  for (const row of rows) {
    const known = latest.get(row.join_key);
    if (known === undefined || (row.updated_at ?? '') >= (known.updated_at ?? '')) latest.set(row.join_key, row);
  }
  return [...latest.values()];
}

function targetAttribute(others: Record<string, unknown>): string | null {
  if ('target_attribute' in others) return asText(others['target_attribute']);
  const values = Object.values(others);
  if (values.length === 0) return null;
  return values.length === 1 ? asText(values[0]) : JSON.stringify(others);
}

function asText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
