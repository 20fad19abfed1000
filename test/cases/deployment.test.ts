import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { withoutTerraform, Workspace } from '../terraform/terraform.ts';

/** What of a deployment lost messages elsewhere. */

type Attributes = Readonly<Record<string, unknown>>;

interface Change {
  readonly address: string;
  readonly type: string;
  readonly change: { readonly actions: readonly string[]; readonly before: Attributes; readonly after: Attributes };
}

/** Attributes that the real provider cannot change but by removing the resource and making another. */
const FIXED: Readonly<Record<string, readonly string[]>> = {
  google_cloudfunctions2_function: ['name', 'location', 'project'],
  google_pubsub_subscription: ['name', 'topic', 'project', 'filter', 'enable_message_ordering'],
  google_pubsub_topic: ['name', 'project'],
};

describe('subscriptions of a deployment', { skip: withoutTerraform }, () => {
  let workspace: Workspace;
  before(async () => {
    workspace = await new Workspace().open();
  });
  after(() => workspace.close());

  async function planned(): Promise<string> {
    const { code, out, err } = await workspace.run('plan', '-input=false', '-no-color', '-out=plan.bin');
    assert.equal(code, 0, out + err);
    return (await workspace.run('show', '-json', 'plan.bin')).out;
  }

  test('PUB-02: every function is pushed to by a subscription that repeats with growing pauses, by no trigger', async () => {
    const plan = await workspace.plan();
    const functions = plan.of('google_cloudfunctions2_function');
    assert.equal(functions.length, 6);
    for (const { address, after: planned } of functions) {
      assert.deepEqual(planned['event_trigger'] ?? [], [], `${address} has a trigger`);
    }
    const pushes = plan.of('google_pubsub_subscription', 'push');
    assert.equal(pushes.length, 3);
    for (const { address, after: planned } of pushes) {
      const [retry] = planned['retry_policy'] as readonly Record<string, unknown>[];
      assert.deepEqual(retry, { minimum_backoff: '10s', maximum_backoff: '600s' }, address);
      assert.equal((planned['dead_letter_policy'] as readonly unknown[]).length, 1, address);
    }
  });

  test('FS-13: a state that is forgotten sooner than a subscription forgets is not deployed', async () => {
    const days = (state: string) => workspace.plan({ settings: { STATE_RETENTION: state } });
    await days('8d');
    await assert.rejects(days('7d'), /STATE_RETENTION/);
  });

  test('PUB-07: a new version of the functions changes them in place and removes no subscription', async () => {
    workspace.variables();
    await planned();
    const applied = await workspace.run('apply', '-input=false', '-no-color', 'plan.bin');
    assert.equal(applied.code, 0, applied.out + applied.err);
    appendFileSync(path.join(workspace.root, 'dist/index.js'), '// another version\n');
    const { resource_changes } = JSON.parse(await planned()) as { resource_changes: readonly Change[] };
    const changes = resource_changes.filter(({ type }) => type in FIXED);
    assert.ok(changes.length > 15);
    for (const { address, type, change } of changes) {
      const { actions, before, after } = change;
      assert.ok(!actions.includes('delete') && !actions.includes('create'), `${address}: ${actions.join()}`);
      for (const name of FIXED[type]!) assert.deepEqual(after[name], before[name], `${address}: ${name}`);
    }
    const updated = changes.filter(({ change }) => change.actions.includes('update')).map(({ type }) => type);
    assert.equal(updated.filter((type) => type === 'google_cloudfunctions2_function').length, 6);
  });
});
