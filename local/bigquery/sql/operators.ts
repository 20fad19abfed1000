import { coerce, unify } from './coerce.ts';
import { fail, refuse, type Scope } from './scope.ts';
import { typeName, type Typed } from './typing.ts';

/** Refuses types without order or equality. */
export function comparable(scope: Scope, values: readonly Typed[], pos: number): void {
  for (const { type } of values) {
    if (typeof type === 'object' || type === 'JSON') {
      throw fail(scope, pos, `Comparison is not defined for arguments of type ${typeName(type)}`);
    }
  }
}

/** A comparison; NaN is neither equal to nor ordered with anything. */
export function compare(scope: Scope, op: string, left: Typed, right: Typed, pos: number): Typed {
  const { type, values } = unify(scope, [left, right], pos, `operator ${op}`);
  comparable(scope, values, pos);
  const [a, b] = [values[0]?.sql ?? '', values[1]?.sql ?? ''];
  const plain = `${a} ${op} ${b}`;
  if (type !== 'FLOAT64') return { sql: `(${plain})`, type: 'BOOL' };
  if (op === '!=') return { sql: `(${plain} OR isnan(${a}))`, type: 'BOOL' };
  // DuckDB orders NaN above everything and equal to itself.
  const nan = op.startsWith('<') ? b : a;
  const other = op === '=' || op === '<=' || op === '>=' ? ` AND NOT isnan(${nan === a ? b : a})` : '';
  return { sql: `(${plain} AND NOT isnan(${nan})${other})`, type: 'BOOL' };
}

/** `+ - * / ||`. */
export function arithmetic(scope: Scope, op: string, args: readonly [Typed, Typed], pos: number): Typed {
  const [left, right] = args;
  if (op === '||') return concat(scope, args, pos);
  if (left.type === 'DATE' && right.type === 'INT64' && (op === '+' || op === '-')) {
    return { sql: `gsql_date(${left.sql} ${op} CAST(${right.sql} AS INTEGER))`, type: 'DATE' };
  }
  const { type, values } = unify(scope, args, pos, `operator ${op}`);
  const [a, b] = [values[0]?.sql ?? '', values[1]?.sql ?? ''];
  if (op === '/') {
    if (type === 'NUMERIC') throw refuse(scope, pos, 'The division of NUMERIC (cast to FLOAT64)');
    const [x, y] = values.map((value) => coerce(scope, value, 'FLOAT64', pos).sql);
    const zero = `error('division by zero: ' || ${a} || ' / ' || ${b})`;
    return {
      sql: `CASE WHEN ${y ?? ''} = 0 THEN ${zero} ELSE gsql_finite(${x ?? ''} / ${y ?? ''}, ${x ?? ''}, ${y ?? ''}) END`,
      type: 'FLOAT64',
    };
  }
  switch (type) {
    case 'INT64':
      return { sql: `(${a} ${op} ${b})`, type };
    case 'FLOAT64':
      return { sql: `gsql_finite(${a} ${op} ${b}, ${a}, ${b})`, type };
    case 'NUMERIC':
      if (op === '*') throw refuse(scope, pos, 'The multiplication of NUMERIC (cast to FLOAT64)');
      return { sql: `CAST((${a} ${op} ${b}) AS DECIMAL(38, 9))`, type };
    default:
      throw fail(
        scope,
        pos,
        `No matching signature for operator ${op} for argument types: ${typeName(left.type)}, ${typeName(right.type)}`,
      );
  }
}

function concat(scope: Scope, args: readonly Typed[], pos: number): Typed {
  const { type, values } = unify(scope, args, pos, 'operator ||');
  if (type === 'STRING' || type === 'BYTES') return { sql: `(${values.map((value) => value.sql).join(' || ')})`, type };
  if (typeof type === 'object' && type.kind === 'array') {
    const [a, b] = [values[0]?.sql ?? '', values[1]?.sql ?? ''];
    return { sql: `CASE WHEN ${a} IS NOT NULL AND ${b} IS NOT NULL THEN list_concat(${a}, ${b}) END`, type };
  }
  throw fail(
    scope,
    pos,
    `No matching signature for operator || for argument types: ${args.map((one) => typeName(one.type)).join(', ')}`,
  );
}
