import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { RECORDED } from '../terraform/permissions.ts';
import { record, type Recording } from './scenario.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

/** Only after failures, so a matter of timing. Neither needs a permission that the other calls do not need. */
const BY_CHANCE = /^(firestore\.Rollback|bigquery\.jobs\.cancel) /;

/** Metrics that the scenario brings no line for: nothing breaks in it that nobody can repair. */
const RARE =
  /^(finish|join)\.(refused|retry|blocked|failed)$|\.(stuck|refused|retry)$|^(handler_failed|invalid_config)$/;

interface Metric {
  readonly event: string;
  readonly field: string;
  readonly type: 'number' | 'string';
}

/** What the metrics of terraform/metrics.tf extract: a number for a value, a text for a label. */
function extracted(): readonly Metric[] {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../terraform/metrics.tf'), 'utf8');
  const metrics = [
    ...text.matchAll(
      /event = "([\w.]+)", .*?value = (?:"([\w.]+)"|null), .*?label = (?:"(\w+)"|null)(?:, positive = "([\w.]+)")?/g,
    ),
  ];
  return metrics.flatMap(([, event, value, label, positive]) => [
    ...(positive === undefined ? [] : [{ event: event!, field: positive, type: 'number' as const }]),
    ...(value === undefined ? [] : [{ event: event!, field: value, type: 'number' as const }]),
    ...(label === undefined ? [] : [{ event: event!, field: label, type: 'string' as const }]),
  ]);
}

function at(line: object, field: string): unknown {
  return field.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | null)?.[name], line);
}

describe('what the functions do, recorded', { timeout: 180_000 }, () => {
  let recording: Recording;
  before(async () => {
    recording = await record();
  });

  test('they call what test/terraform/recorded-methods.json says; UPDATE=1 writes it anew', () => {
    const calls = Object.entries(recording.calls).map(([name, list]) => [
      name,
      list.filter((one) => !BY_CHANCE.test(one)),
    ]);
    const text = `${JSON.stringify(Object.fromEntries(calls), null, 2)}\n`;
    if (process.env['UPDATE'] !== undefined) writeFileSync(RECORDED, text);
    assert.equal(text, readFileSync(RECORDED, 'utf8'));
  });

  test('their lines have what the log metrics extract', () => {
    const metrics = extracted();
    assert.ok(metrics.length >= 15);
    for (const { event, field, type } of metrics) {
      const lines = recording.lines.filter((line) => line['event'] === event);
      assert.ok(lines.length > 0 || RARE.test(event), `no line ${event}`);
      for (const line of lines) assert.equal(typeof at(line, field), type, `${field} in ${JSON.stringify(line)}`);
    }
  });
});
