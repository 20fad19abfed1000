import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { OPTIONAL } from './permissions.ts';
import { withoutTerraform, Workspace } from './terraform.ts';

const PAGE = path.resolve(import.meta.dirname, '../../docs/permissions.md');

test('docs/permissions.md has every grant and no other', { skip: withoutTerraform }, async (t) => {
  const workspace = await new Workspace().open();
  t.after(() => workspace.close());
  const plan = await workspace.plan(OPTIONAL.variables);
  const granted = plan.resources
    .filter((r) => r.type.endsWith('_iam_member'))
    .flatMap(({ after }) => {
      const member = String(after['member']);
      const account = member.includes('@gcp-sa-pubsub.') ? 'pubsub' : /codaflow-(\w+)@/.exec(member)?.[1];
      // Those of producers are told in words.
      return account === undefined ? [] : [`${account} ${String(after['role']).replace(/^projects.*codaflow_/, '')}`];
    });
  const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| `(\w+)` \| `([\w./]+)`/gm);
  const described = [...rows].map(([, account, role]) => `${account} ${role}`);
  assert.deepEqual([...new Set(described)].sort(), [...new Set(granted)].sort());
});
