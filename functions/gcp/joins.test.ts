import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { loadConfig } from '../config.ts';
import { loadJoins } from './joins.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'codaflow-joins-'));
after(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(path.join(folder, 'prices'));
writeFileSync(path.join(folder, 'prices/query.sql'), 'SELECT * FROM new_events');

function load(file: object, env: Readonly<Record<string, string>> = {}) {
  writeFileSync(path.join(folder, 'prices/join.json'), JSON.stringify(file, null, 2));
  return loadJoins(loadConfig({ PROJECT_ID: 'local-project', ...env }), folder);
}

test("a join into one of Codaflow's own topics is refused: its rows would be taken for events", () => {
  for (const topic of ['events', 'completions', 'summaries', 'dead-letters', 'watches']) {
    assert.throws(() => load({ topic }), {
      message:
        `joins/prices/join.json:2: topic ${topic} is one of Codaflow's own; ` +
        'joined rows need a topic of their own, such as results',
    });
  }
  assert.equal(load({ topic: 'prices' }).get('prices')!.topic, 'prices');
});

test('where topics have a prefix it is theirs that are refused', () => {
  const env = { EVENTS_TOPIC: 'staging-events', SUMMARIES_TOPIC: 'staging-summaries' };
  for (const topic of ['staging-events', 'staging-summaries', 'staging-watches'])
    assert.throws(() => load({ topic }, env), /one of Codaflow's own/);
});

test('the default topic is refused, too', () => {
  assert.throws(() => load({}, { RESULTS_TOPIC: 'events' }), /topic events is one of Codaflow's own/);
});
