import type { Expr } from '../ast.ts';
import { coerce } from '../coerce.ts';
import { translate } from '../expression.ts';
import { fail, refuse, type Scope } from '../scope.ts';
import type { Scalar, Typed } from '../typing.ts';

export interface CallSite {
  readonly scope: Scope;
  readonly name: string;
  readonly exprs: readonly Expr[];
  readonly pos: number;
  /** Called as SAFE.name. */
  readonly safe: boolean;
}

export type Builder = (call: CallSite) => Typed;

/** Checks the number of arguments. */
export function arity(call: CallSite, least: number, most = least): void {
  const count = call.exprs.length;
  if (count < least || count > most) {
    throw fail(call.scope, call.pos, `No matching signature for function ${call.name}: ${count} arguments`);
  }
}

/** The translated argument at a position. */
export function argument(call: CallSite, index: number, type?: Scalar): Typed {
  const expr = call.exprs[index];
  if (!expr)
    throw fail(
      call.scope,
      call.pos,
      `No matching signature for function ${call.name}: argument ${index + 1} is missing`,
    );
  const value = translate(expr, call.scope);
  return type === undefined
    ? value
    : coerce(call.scope, value, type, expr.pos, `Argument ${index + 1} of ${call.name}`);
}

/** Refuses SAFE. in front of a function whose failures cannot be turned into NULL. */
export function notSafe(call: CallSite): void {
  if (call.safe) throw refuse(call.scope, call.pos, `SAFE.${call.name}`);
}

/**
 * A function of fixed types.
 * @param params types with commas between them, `?` behind optional ones
 */
export function simple(params: string, returns: Scalar, sql: (...args: string[]) => string): Builder {
  const types = params === '' ? [] : params.split(',').map((one) => one.trim());
  const least = types.filter((one) => !one.endsWith('?')).length;
  return (call) => {
    notSafe(call);
    arity(call, least, types.length);
    const args = call.exprs.map(
      (_, index) => argument(call, index, (types[index] ?? '').replace('?', '') as Scalar).sql,
    );
    return { sql: sql(...args), type: returns };
  };
}

/** The text of an argument that has to be a literal or a parameter. */
export function constantText(call: CallSite, index: number, what: string): string {
  const { value } = argument(call, index, 'STRING');
  if (typeof value !== 'string')
    throw refuse(call.scope, call.pos, `${call.name} with a ${what} that is no literal or parameter`);
  return value;
}

/** The bare word of an argument such as a date part. */
export function word(call: CallSite, index: number): string {
  const expr = call.exprs[index];
  if (expr?.kind !== 'path' || expr.names.length !== 1) {
    throw fail(call.scope, expr?.pos ?? call.pos, `A date part is expected as argument ${index + 1} of ${call.name}`);
  }
  return (expr.names[0] ?? '').toUpperCase();
}
