import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { RECORDED } from '../terraform/permissions.ts';
import { record } from './scenario.ts';

process.env['METADATA_SERVER_DETECTION'] = 'none';

/** Only after failures, so a matter of timing. Neither needs a permission that the other calls do not need. */
const BY_CHANCE = /^(firestore\.Rollback|bigquery\.jobs\.cancel) /;

/** `UPDATE=1 node --test test/identities/recording.test.ts` writes the file anew. */
test('functions call what test/terraform/recorded-methods.json says', { timeout: 180_000 }, async () => {
  const fresh = Object.fromEntries(
    Object.entries(await record()).map(([name, calls]) => [name, calls.filter((call) => !BY_CHANCE.test(call))]),
  );
  const text = `${JSON.stringify(fresh, null, 2)}\n`;
  if (process.env['UPDATE'] !== undefined) writeFileSync(RECORDED, text);
  assert.equal(text, readFileSync(RECORDED, 'utf8'));
});
