import type { Row } from '../demo/observe.ts';
import { counted, wrap } from '../demo/words.ts';

/** Rows that decide the widths of the columns. */
const MEASURED = 1000;

/**
 * Rows as text: a table where it fits into `width` columns (null: any), else each row as a list of its values. Nothing
 * is cut.
 */
export function render(rows: readonly Row[], width: number | null): string {
  const [first] = rows;
  if (first === undefined) return 'no rows';
  const names = Object.keys(first);
  const cells = rows.map((row) => names.map((name) => text(row[name])));
  const widths = names.map((name, i) =>
    Math.max(name.length, ...cells.slice(0, MEASURED).map((row) => row[i]!.length)),
  );
  const whole = widths.reduce((sum, one) => sum + one + 2, -2);
  if (width !== null && whole > width) return list(names, cells, width);
  const line = (values: readonly string[]): string =>
    values
      .map((value, i) => value.padEnd(widths[i]!))
      .join('  ')
      .trimEnd();
  return [line(names), line(widths.map((one) => '-'.repeat(one))), ...cells.map(line)].join('\n');
}

function list(names: readonly string[], cells: readonly (readonly string[])[], width: number): string {
  const longest = Math.max(...names.map((name) => name.length));
  const rows = cells.map((row, index) => {
    const title = `-- row ${index + 1} `;
    const values = row.map((value, i) => wrap(value, width, `${names[i]!.padEnd(longest)}  `));
    return [title.padEnd(Math.min(width, 60), '-'), ...values].join('\n');
  });
  return [...rows, counted(cells.length, 'row')].join('\n');
}

/** A row a line. */
export function renderJson(rows: readonly Row[]): string {
  return rows.length === 0 ? '[]' : `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]`;
}

function text(value: unknown): string {
  const whole =
    value === null || value === undefined ? 'NULL' : typeof value === 'string' ? value : JSON.stringify(value);
  // A line or a move of the cursor inside a value must not look like another row.
  return whole.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) => JSON.stringify(character).slice(1, -1));
}
