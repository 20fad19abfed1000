import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withoutTerraform, Workspace } from './terraform.ts';

const PAGE = path.resolve(import.meta.dirname, '../../docs/permissions.md');

test('docs/permissions.md has every grant and no other', { skip: withoutTerraform }, async (t) => {
  const workspace = await new Workspace().open();
  t.after(() => workspace.close());
  const plan = await workspace.plan();
  const granted = plan.resources
    .filter((r) => r.type.endsWith('_iam_member'))
    .map(({ after }) => {
      const member = String(after['member']);
      const account = member.includes('@gcp-sa-pubsub.') ? 'pubsub' : /codaflow-(\w+)@/.exec(member)?.[1];
      const role = String(after['role']);
      return `${account} ${role.endsWith('codaflow_writer') ? 'writer' : role}`;
    });
  const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| `(\w+)` \| `([\w./]+)`/gm);
  const described = [...rows].map(([, account, role]) => `${account} ${role}`);
  assert.deepEqual([...new Set(described)].sort(), [...new Set(granted)].sort());
});
