import { castTo } from '../cast.ts';
import { coerce } from '../coerce.ts';
import { fail, refuse } from '../scope.ts';
import { text, typeName, type Typed } from '../typing.ts';
import { argument, arity, constantText, notSafe, type Builder, type CallSite } from './builder.ts';

/** FORMAT with a constant format of %s, %d, %t and %%. */
export const format: Builder = (call) => {
  arity(call, 1, 1000);
  notSafe(call);
  const source = constantText(call, 0, 'format');
  const parts: string[] = [];
  let next = 1;
  for (const match of source.matchAll(/%([^])|[^%]+|%$/g)) {
    const code = match[1];
    if (!match[0].startsWith('%')) parts.push(text(match[0]));
    else if (code === '%') parts.push("'%'");
    else if (code === 's' || code === 'd' || code === 't') parts.push(part(call, code, argument(call, next++)));
    else throw refuse(call.scope, call.pos, `FORMAT code ${match[0]}`);
  }
  if (next !== call.exprs.length)
    throw fail(call.scope, call.pos, 'FORMAT has another number of arguments than its codes');
  return { sql: parts.length > 0 ? `(${parts.join(' || ')})` : "''", type: 'STRING' };
};

function part(call: CallSite, code: string, value: Typed): string {
  if (code === 's') return coerce(call.scope, value, 'STRING', call.pos, 'Argument of %s').sql;
  if (code === 'd')
    return castTo(call.scope, coerce(call.scope, value, 'INT64', call.pos, 'Argument of %d'), 'STRING', true, call.pos)
      .sql;
  if (typeof value.type === 'object' || value.type === 'BYTES' || value.type === 'JSON' || value.type === 'FLOAT64') {
    throw refuse(call.scope, call.pos, `FORMAT %t of ${typeName(value.type)}`);
  }
  return `coalesce(${castTo(call.scope, value, 'STRING', true, call.pos).sql}, 'NULL')`;
}
