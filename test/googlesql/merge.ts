import type { Oracle, Parameters } from './oracle.ts';
import { fromGoogle } from './values.ts';

type Node = Readonly<Record<string, unknown>>;

/** The first node of a kind anywhere below. */
function find(tree: unknown, kind: string): Node | undefined {
  if (typeof tree !== 'object' || tree === null) return undefined;
  const own = (tree as Node)[kind];
  if (typeof own === 'object' && own !== null) return own as Node;
  for (const child of Object.values(tree)) {
    const found = find(child, kind);
    if (found) return found;
  }
  return undefined;
}

/** The source range of a node, which is the nearest one below it. */
function range(node: unknown): { start?: number; end?: number } | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  const own = (node as Node)['parseLocationRange'];
  if (own) return own;
  const { parent, ...rest } = node as Node;
  for (const child of [parent, ...Object.values(rest)]) {
    const found = range(child);
    if (found) return found;
  }
  return undefined;
}

/**
 * Executes MERGE by Google's evaluator, which has none: every clause becomes a query over the tables as they are, and
 * its rows are applied here. Gives the target's rows afterwards.
 */
export async function emulateMerge(
  oracle: Oracle,
  sql: string,
  columns: readonly string[],
  parameters: Parameters,
): Promise<unknown[][]> {
  const merge = find(await oracle.parse(sql), 'astMergeStatementNode');
  if (!merge) throw new Error('no MERGE');
  const bytes = Buffer.from(sql);
  const text = (node: unknown): string => {
    const { start, end } = range(node) ?? {};
    return bytes.subarray(start ?? 0, end).toString();
  };
  const query = async (select: string): Promise<unknown[][]> =>
    (await oracle.query(select, parameters)).map((row) => row.map(fromGoogle));
  const target = text(merge['targetPath']);
  const alias = merge['alias'] ? text(merge['alias']).replace(/^AS\s+/i, '') : target;
  const source = text(merge['tableExpression']);
  const on = text(merge['mergeCondition']);
  const sourceAlias = /(\w+)\s*$/.exec(source)?.[1] ?? '';
  const rows = await query(`SELECT _oracle_row, ${columns.join(', ')} FROM ${target}`);
  const inserted: unknown[][] = [];
  const touched = new Set<unknown>();
  const earlier = new Map<string, string[]>();
  const clauses = ((merge['whenClauses'] as Node)['clauseList'] as Node[]) ?? [];
  const changes: (() => void)[] = [];
  for (const clause of clauses) {
    const match = clause['matchType'] as string;
    const condition = clause['searchCondition'] ? text(clause['searchCondition']) : 'TRUE';
    const before = earlier.get(match) ?? [];
    earlier.set(match, [...before, condition]);
    const guard = [condition, ...before.map((one) => `NOT IFNULL(${one}, FALSE)`)]
      .map((one) => `(${one})`)
      .join(' AND ');
    const from =
      match === 'MATCHED'
        ? `${target} AS ${alias} JOIN ${source} ON ${on} WHERE ${guard}`
        : match === 'NOT_MATCHED_BY_TARGET'
          ? `${source} WHERE NOT EXISTS (SELECT 1 FROM ${target} AS ${alias} WHERE ${on}) AND ${guard}`
          : `${target} AS ${alias} WHERE NOT EXISTS (SELECT 1 FROM ${source} WHERE ${on}) AND ${guard}`;
    const action = clause['action'] as Node;
    const touch = (row: unknown): void => {
      if (touched.has(row)) throw new Error('UPDATE/MERGE must match at most one source row for each target row');
      touched.add(row);
    };
    if (action['actionType'] === 'INSERT') {
      const whole = text(action);
      const names = /INSERT\s*\(([^)]*)\)/i
        .exec(whole)?.[1]
        ?.split(',')
        .map((name) => name.trim().toLowerCase()) ?? [...columns];
      const values =
        /\bVALUES\s*\(([^]*)\)\s*$/i.exec(whole)?.[1] ?? names.map((name) => `${sourceAlias}.${name}`).join(', ');
      for (const row of await query(`SELECT ${values} FROM ${from}`)) {
        inserted.push(columns.map((name) => (names.includes(name) ? row[names.indexOf(name)] : null)));
      }
    } else if (action['actionType'] === 'UPDATE') {
      const items = (((action['updateItemList'] as Node)['updateItems'] as Node[]) ?? []).map(text).map((item) => {
        const at = item.indexOf('=');
        return { name: item.slice(0, at).trim().replace(/^.*\./, '').toLowerCase(), value: item.slice(at + 1) };
      });
      for (const [row, ...values] of await query(
        `SELECT ${alias}._oracle_row, ${items.map((item) => item.value).join(', ')} FROM ${from}`,
      )) {
        touch(row);
        changes.push(() => {
          const found = rows.find((one) => one[0] === row);
          for (const [index, item] of items.entries()) if (found) found[columns.indexOf(item.name) + 1] = values[index];
        });
      }
    } else {
      for (const [row] of await query(`SELECT ${alias}._oracle_row FROM ${from}`)) {
        touch(row);
        changes.push(() =>
          rows.splice(
            rows.findIndex((one) => one[0] === row),
            1,
          ),
        );
      }
    }
  }
  for (const change of changes) change();
  return [...rows.map((row) => row.slice(1)), ...inserted];
}
