import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DATASET, PROJECT, views } from '../../local/resources.ts';
import type { Field } from '../../local/bigquery/sql/types.ts';
import type { Value } from './values.ts';

/** Tables by name, with GoogleSQL types by column and rows. */
export interface Fixture {
  readonly [table: string]: {
    readonly columns: Readonly<Record<string, string>>;
    readonly rows: readonly Readonly<Record<string, Value>>[];
  };
}

const TERRAFORM = path.join(import.meta.dirname, '../../terraform');
const TYPES: Partial<Record<Field['type'], string>> = { INTEGER: 'INT64', FLOAT: 'FLOAT64', BOOLEAN: 'BOOL' };

function typeOf(field: Field): string {
  const one =
    field.type === 'RECORD'
      ? `STRUCT<${(field.fields ?? []).map((inner) => `${inner.name} ${typeOf(inner)}`).join(', ')}>`
      : (TYPES[field.type] ?? field.type);
  return field.mode === 'REPEATED' ? `ARRAY<${one}>` : one;
}

export function schema(table: string): Field[] {
  return JSON.parse(readFileSync(path.join(TERRAFORM, 'schemas', `${table}.json`), 'utf8')) as Field[];
}

export function view(name: string): string {
  return views()
    .find((view) => view.name === name)!
    .query.replaceAll(`${PROJECT}.${DATASET}.`, 'ds.');
}

const columns = (table: string): Record<string, string> =>
  Object.fromEntries(schema(table).map((field) => [field.name, typeOf(field)]));

const event = (
  id: string,
  key: string,
  time: string,
  message: string,
  more: Record<string, Value> = {},
): Record<string, Value> => ({
  event_id: id,
  unique_key: key,
  event_status: 'step',
  event_time: time,
  message_id: message,
  ingest_time: '2026-11-29 09:30:00',
  ...more,
});
const summary = (
  key: string,
  generation: string,
  revision: string,
  state: string,
  steps: string,
): Record<string, Value> => ({
  unique_key: key,
  generation,
  revision,
  state,
  complete: 'true',
  total_steps: steps,
  start_time: '2026-11-29 09:00:00',
  last_event_time: '2026-11-29 09:10:00',
  late_events: '0',
  written_at: '2026-11-29 09:40:00',
  duration_seconds: '1.5',
  steps: [{ event_id: 'e1', event_status: 'step', event_time: '2026-11-29 09:00:00.5' }],
});

export const FIXTURE: Fixture = {
  events: {
    columns: columns('events'),
    rows: [
      event('e1', 'k1', '2026-11-29 09:00:00.123456', 'm1', {
        join_key: 'j1',
        sequence: '1',
        payload: '{"a": 1, "b": {"c": "x"}, "list": [1, "two", null]}',
      }),
      event('e1', 'k1', '2026-11-29 09:00:00.123456', 'm2', {
        join_key: 'j1',
        sequence: '1',
        payload: '{"a": 1}',
        ingest_time: '2026-11-29 09:31:00',
      }),
      event('e2', 'k1', '2026-11-29 09:01:00', 'm3', { join_key: 'j2', sequence: '2', payload: null }),
      event('e3', 'k2', '2026-11-28 23:59:59.999999', 'm4', {
        join_key: 'j1',
        payload: 'not json',
        extra: '{"z":"é\\u2028\\""}',
      }),
      event('e4', 'k2', '2026-11-27 00:00:00', 'm5', { join_key: null, sequence: '9007199254740993' }),
      event('e5', 'k3', '2026-11-29 10:00:00', 'm6', {
        join_key: 'j3',
        sequence: '-3',
        payload: '{"a":"7","ok":true}',
      }),
    ],
  },
  reference: {
    columns: columns('reference'),
    rows: [
      { join_key: 'j1', target_attribute: 'old', updated_at: '2026-01-01 00:00:00' },
      { join_key: 'j1', target_attribute: 'new', updated_at: '2026-02-01 00:00:00' },
      { join_key: 'j1', target_attribute: 'never', updated_at: null },
      { join_key: 'j3', target_attribute: null, updated_at: '2026-01-01 00:00:00' },
      { join_key: 'unused', target_attribute: 'x', updated_at: '2026-01-01 00:00:00' },
    ],
  },
  joined: {
    columns: columns('joined'),
    rows: [
      {
        join_name: 'default',
        result_id: 'r0',
        run_id: 'run-0',
        unique_key: 'k0',
        event_id: 'e0',
        event_time: '2026-11-29 08:00:00',
        window_start: '2026-11-29 08:00:00',
        window_end: '2026-11-29 09:00:00',
        message: '{}',
      },
    ],
  },
  summaries: {
    columns: columns('summaries'),
    rows: [
      summary('k1', '10', '1', 'finished', '2'),
      summary('k1', '10', '2', 'finished', '2'),
      summary('k2', '20', '1', 'expired', '1'),
    ],
  },
  types: {
    columns: {
      id: 'INT64',
      s: 'STRING',
      f: 'FLOAT64',
      n: 'NUMERIC',
      b: 'BOOL',
      ts: 'TIMESTAMP',
      d: 'DATE',
      y: 'BYTES',
      j: 'JSON',
      tags: 'ARRAY<STRING>',
      geo: 'STRUCT<country STRING, city STRING>',
      points: 'ARRAY<STRUCT<x INT64, name STRING>>',
    },
    rows: [
      {
        id: '1',
        s: 'alpha',
        f: '1.5',
        n: '10.25',
        b: 'true',
        ts: '2026-01-05 10:17:42.123456',
        d: '2026-01-05',
        y: 'ff00',
        j: '{"a":1,"b":{"c":"x"},"s":"12","list":[1,2]}',
        tags: ['t1', 't2'],
        geo: { country: 'US', city: 'NYC' },
        points: [
          { x: '1', name: 'p' },
          { x: '2', name: null },
        ],
      },
      {
        id: '2',
        s: 'Beta é😀',
        f: '-0.1',
        n: '-3',
        b: 'false',
        ts: '1969-12-31 23:59:59.5',
        d: '1969-12-31',
        y: '',
        j: '{"a":"2.5"}',
        tags: [],
        geo: { country: 'DE', city: null },
        points: [],
      },
      {
        id: '3',
        s: null,
        f: null,
        n: null,
        b: null,
        ts: null,
        d: null,
        y: null,
        j: null,
        tags: ['t2'],
        geo: null,
        points: [{ x: '3', name: 'q' }],
      },
      {
        id: '4',
        s: '',
        f: 'NaN',
        n: '0.000000001',
        b: 'true',
        ts: '2026-01-05 10:00:00',
        d: '2024-02-29',
        y: '61',
        j: '[1]',
        tags: ['t1'],
        geo: { country: 'US', city: 'SF' },
        points: [],
      },
    ],
  },
};
