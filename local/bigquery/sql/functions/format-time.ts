import { refuse } from '../scope.ts';
import { text } from '../typing.ts';
import { argument, arity, constantText, notSafe, type Builder } from './builder.ts';
import { utcOnly } from './date.ts';

/** Codes that mean the same to DuckDB's strftime. */
const SHARED = new Set([
  '%Y',
  '%m',
  '%d',
  '%H',
  '%M',
  '%S',
  '%j',
  '%a',
  '%A',
  '%b',
  '%B',
  '%y',
  '%I',
  '%p',
  '%u',
  '%w',
  '%V',
  '%G',
]);
const ALIASES: Record<string, string> = {
  '%F': '%Y-%m-%d',
  '%T': '%H:%M:%S',
  '%R': '%H:%M',
  '%D': '%m/%d/%y',
  '%h': '%b',
  '%E4Y': '%Y',
};
const TIME_ONLY = /%(?:H|M|S|T|R|I|p|E[0-6*]S|s|Z|z|Ez)/;

/** FORMAT_TIMESTAMP and FORMAT_DATE with a constant format. */
export const formatTime =
  (type: 'TIMESTAMP' | 'DATE'): Builder =>
  (call) => {
    arity(call, 2, type === 'TIMESTAMP' ? 3 : 2);
    notSafe(call);
    utcOnly(call, 2);
    const source = constantText(call, 0, 'format');
    const value = argument(call, 1, type).sql;
    if (type === 'DATE' && TIME_ONLY.test(source)) throw refuse(call.scope, call.pos, 'A time of day in FORMAT_DATE');
    const plain = type === 'TIMESTAMP' ? `(${value} AT TIME ZONE 'UTC')` : value;
    const parts: string[] = [];
    let shared = '';
    const flush = (): void => {
      if (shared) parts.push(`strftime(${plain}, ${text(shared)})`);
      shared = '';
    };
    for (const [code] of source.matchAll(/%E(?:4Y|\*S|[0-6]S|z)|%[^]|[^%]+|%$/g)) {
      const digits = /^%E([0-6])S$/.exec(code)?.[1];
      if (!code.startsWith('%') || code === '%%' || SHARED.has(code)) shared += code;
      else if (ALIASES[code] !== undefined) shared += ALIASES[code];
      else if (code === '%Z') shared += 'UTC';
      else if (code === '%z') shared += '+0000';
      else if (code === '%Ez') shared += '+00:00';
      else {
        flush();
        if (digits !== undefined)
          parts.push(
            digits === '0'
              ? `strftime(${plain}, '%S')`
              : `substring(strftime(${plain}, '%S.%f'), 1, ${3 + Number(digits)})`,
          );
        else if (code === '%E*S') parts.push(`regexp_replace(strftime(${plain}, '%S.%f'), '\\.?0*$', '')`);
        else if (code === '%e') parts.push(`lpad(CAST(day(${plain}) AS VARCHAR), 2, ' ')`);
        else if (code === '%s') parts.push(`CAST(gsql_floor_div(epoch_us(${value}), 1000000) AS VARCHAR)`);
        else throw refuse(call.scope, call.pos, `The format code ${code}`);
      }
    }
    flush();
    if (parts.length === 0) return { sql: `CASE WHEN ${value} IS NOT NULL THEN '' END`, type: 'STRING' };
    return { sql: `(${parts.join(' || ')})`, type: 'STRING' };
  };
