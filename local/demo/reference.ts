/** A row of the local reference table; columns as in terraform/schemas/reference.json. */
export interface ReferenceRow {
  readonly join_key: string;
  readonly target_attribute: string | null;
  readonly updated_at: string | null;
}

/**
 * Reference rows of any shape: `target_attribute` is the member of that name, else the text of the only other member,
 * else the JSON text of the other members.
 *
 * @throws Error that names the line without a `join_key`
 */
export function toReference(lines: readonly string[], now: string): ReferenceRow[] {
  const rows = lines.map((line, index) => {
    const { join_key, updated_at, ...others } = parse(line, index);
    if (typeof join_key !== 'string') throw new Error(`line ${index + 1} of the reference rows has no text "join_key"`);
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
  if ('target_attribute' in others) return text(others['target_attribute']);
  const values = Object.values(others);
  if (values.length === 0) return null;
  return values.length === 1 ? text(values[0]) : JSON.stringify(others);
}

function text(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function parse(line: string, index: number): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch (error) {
    throw new Error(`line ${index + 1} of the reference rows is no JSON`, { cause: error });
  }
}
