import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { isKnownJoin } from './join.ts';

test('the join of the repository is the one that verdicts know; with another SQL it is not', () => {
  assert.ok(
    isKnownJoin(),
    'joins/enrich has changed: see whether oracle.ts and verdict.ts still say what comes out of it',
  );
  const folder = mkdtempSync(path.join(tmpdir(), 'codaflow-join-'));
  try {
    writeFileSync(path.join(folder, 'join.json'), '{}');
    writeFileSync(path.join(folder, 'query.sql'), 'SELECT unique_key, event_id FROM new_events');
    assert.equal(isKnownJoin(folder), false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
