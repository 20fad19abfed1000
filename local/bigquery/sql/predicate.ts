import type { Expr } from './ast.ts';
import { translate } from './expression.ts';
import { between, compared, EVERYTHING, intersect, NO_NULLS, ONLY_NULLS, union, type Ranges } from './pruning.ts';
import { lookup, type Column, type ScanState, type Scope } from './scope.ts';

const FLIPPED: Record<string, string> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '=': '=' };
const DAY = 86_400_000_000;

/** Narrows what the scans in a scope read by a predicate that has to hold. */
export function prune(scope: Scope, predicate: Expr): void {
  const scans = new Set(
    scope.ranges.flatMap((range) => range.columns.flatMap((column) => (column.prunes ? [column.prunes] : []))),
  );
  for (const scan of scans) {
    const left = narrow(scope, predicate, scan);
    scan.ranges = scan.ranges ? intersect(scan.ranges, left) : left;
  }
}

function narrow(scope: Scope, expr: Expr, scan: ScanState): Ranges {
  switch (expr.kind) {
    case 'literal':
      return expr.type === 'BOOL' && expr.value === 'false' ? { ranges: [], nulls: false } : EVERYTHING;
    case 'binary': {
      if (expr.op === 'AND') return intersect(narrow(scope, expr.left, scan), narrow(scope, expr.right, scan));
      if (expr.op === 'OR') return union(narrow(scope, expr.left, scan), narrow(scope, expr.right, scan));
      const left = partitionColumn(scope, expr.left, scan);
      const right = left ? undefined : partitionColumn(scope, expr.right, scan);
      const column = left ?? right;
      if (!column) return EVERYTHING;
      const value = constantOf(scope, left ? expr.right : expr.left, column);
      if (value === undefined) return EVERYTHING;
      return compared((left ? expr.op : FLIPPED[expr.op]) ?? '', value, width(column)) ?? EVERYTHING;
    }
    case 'between': {
      const column = expr.not ? undefined : partitionColumn(scope, expr.arg, scan);
      const low = column && constantOf(scope, expr.low, column);
      const high = column && constantOf(scope, expr.high, column);
      if (column === undefined || low === undefined || high === undefined) return EVERYTHING;
      return between(low, high + width(column));
    }
    case 'is':
      if (expr.what !== 'NULL' || !partitionColumn(scope, expr.arg, scan)) return EVERYTHING;
      return expr.not ? NO_NULLS : ONLY_NULLS;
    case 'in': {
      const column = expr.not || !expr.list ? undefined : partitionColumn(scope, expr.arg, scan);
      if (!column || !expr.list) return EVERYTHING;
      return expr.list
        .map((item) => {
          const value = constantOf(scope, item, column);
          return value === undefined ? EVERYTHING : between(value, value + width(column));
        })
        .reduce(union);
    }
    default:
      return EVERYTHING;
  }
}

function width(column: Column): number {
  return column.type === 'DATE' ? DAY : 1;
}

function partitionColumn(scope: Scope, expr: Expr, scan: ScanState): Column | undefined {
  if (expr.kind !== 'path' || expr.names.length > 2) return undefined;
  const [first = '', second] = expr.names;
  const found = lookup(scope, first, expr.pos);
  if (!found || found.outer) return undefined;
  const column =
    second === undefined
      ? found.column
      : found.range?.columns.find((one) => one.name?.toLowerCase() === second.toLowerCase());
  return column?.prunes === scan ? column : undefined;
}

function constantOf(scope: Scope, expr: Expr, column: Column): number | undefined {
  if (expr.kind === 'subquery' || (expr.kind === 'path' && lookup(scope, expr.names[0] ?? '', expr.pos)))
    return undefined;
  const { value } = translate(expr, { ...scope, deps: new Set() }, column.type);
  if (typeof value !== 'bigint') return undefined;
  return column.type === 'DATE' ? Number(value) * DAY : Number(value);
}
