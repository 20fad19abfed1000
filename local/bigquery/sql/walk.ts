import type { Expr } from './ast.ts';

/** Whether an expression or a part of it passes the test; does not look into subqueries. */
export function walk(expr: Expr, test: (node: Expr) => boolean): boolean {
  if (test(expr)) return true;
  return children(expr).some((child) => walk(child, test));
}

function children(expr: Expr): readonly Expr[] {
  const present = (...items: readonly (Expr | undefined)[]): Expr[] => items.filter((item) => item !== undefined);
  switch (expr.kind) {
    case 'literal':
    case 'typed':
    case 'param':
    case 'path':
    case 'subquery':
      return [];
    case 'field':
      return [expr.base];
    case 'index':
      return [expr.base, expr.index];
    case 'unary':
    case 'is':
    case 'cast':
      return [expr.arg];
    case 'binary':
      return [expr.left, expr.right];
    case 'between':
      return [expr.arg, expr.low, expr.high];
    case 'in':
      return present(expr.arg, ...(expr.list ?? []), expr.unnest);
    case 'case':
      return present(expr.operand, ...expr.whens.flat(), expr.otherwise);
    case 'extract':
      return present(expr.arg, expr.zone);
    case 'interval':
      return [expr.value];
    case 'array':
      return expr.items;
    case 'struct':
      return expr.fields.map((field) => field.value);
    case 'call':
      return present(
        ...expr.args,
        ...expr.orderBy.map((item) => item.value),
        ...(expr.over?.partitionBy ?? []),
        ...(expr.over?.orderBy ?? []).map((item) => item.value),
      );
  }
}
