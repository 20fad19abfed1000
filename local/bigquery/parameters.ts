import { BigQueryError, invalid } from './errors.ts';
import type { Parameter } from './sql/types.ts';
import type { ParameterValue } from './types.ts';

interface RestParameter {
  readonly name?: string;
  readonly parameterType?: { readonly type?: string; readonly arrayType?: { readonly type?: string } };
  readonly parameterValue?: {
    readonly value?: string | null;
    readonly arrayValues?: readonly { readonly value?: string | null }[] | null;
  };
}

const NAMES: Record<string, string> = {
  INTEGER: 'INT64',
  INT: 'INT64',
  SMALLINT: 'INT64',
  BIGINT: 'INT64',
  TINYINT: 'INT64',
  BYTEINT: 'INT64',
  FLOAT: 'FLOAT64',
  BOOLEAN: 'BOOL',
  DECIMAL: 'NUMERIC',
};
const TYPES = [
  'STRING',
  'INT64',
  'FLOAT64',
  'BOOL',
  'TIMESTAMP',
  'DATE',
  'DATETIME',
  'TIME',
  'BYTES',
  'NUMERIC',
  'JSON',
];

function typeName(source: string | undefined, parameter: string): string {
  const type = (source ?? '').toUpperCase();
  const name = NAMES[type] ?? type;
  if (!TYPES.includes(name)) {
    throw new BigQueryError('invalidQuery', `Query parameter '${parameter}': type ${source} is not supported`, 'query');
  }
  return name;
}

/**
 * Reads a REST `queryParameters`. Positional ones have the name ''.
 * @throws BigQueryError
 */
export function parseParameters(source: unknown, mode: unknown): Parameter[] {
  if (source === undefined || source === null) return [];
  if (!Array.isArray(source)) throw invalid('queryParameters is no array');
  const positional = typeof mode === 'string' && mode.toUpperCase() === 'POSITIONAL';
  return source.map((one: unknown, index) => {
    const parameter = one as RestParameter;
    const name = parameter.name ?? '';
    if (!positional && name === '') throw invalid('Named query parameters need a name');
    const label = name || String(index);
    const type = parameter.parameterType?.type?.toUpperCase();
    if (type === 'ARRAY') {
      const element = typeName(parameter.parameterType?.arrayType?.type, label);
      const value = (parameter.parameterValue?.arrayValues ?? []).map((item) => text(item.value));
      return { name: positional ? '' : name, type: 'ARRAY', element, value };
    }
    return { name: positional ? '' : name, type: typeName(type, label), value: text(parameter.parameterValue?.value) };
  });
}

// Clients send some values, such as INT64 and BOOL, as JSON numbers and booleans.
function text(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw invalid('STRUCT query parameters are not supported');
}

/** The parameters of the in-process `query`. */
export function inferParameters(parameters: Record<string, ParameterValue>): Parameter[] {
  return Object.entries(parameters).map(([name, value]) => {
    if (typeof value === 'object') {
      const array = /^ARRAY<(\w+)>$/i.exec(value.type);
      if (array) return { name, type: 'ARRAY', element: typeName(array[1], name), value: value.value };
      return { name, type: typeName(value.type, name), value: value.value };
    }
    const type =
      typeof value === 'string'
        ? 'STRING'
        : typeof value === 'boolean'
          ? 'BOOL'
          : Number.isInteger(value)
            ? 'INT64'
            : 'FLOAT64';
    return { name, type, value: String(value) };
  });
}
