import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { allNeeds, grantsOf, missing, superfluous } from './permissions.ts';
import { Plan, withoutTerraform, Workspace } from './terraform.ts';

describe('permissions', { skip: withoutTerraform }, () => {
  let workspace: Workspace;
  let plan: Plan;
  before(async () => {
    workspace = await new Workspace().open();
    plan = await workspace.plan();
  });
  after(() => workspace.close());

  test('every call is allowed', () => assert.deepEqual(missing(plan), []));

  test('every grant is used', () => assert.deepEqual(superfluous(plan), []));

  test('the code was understood: every function publishes where it is known to', () => {
    const publishes = allNeeds().filter((n) => n.method === 'pubsub.Publish');
    for (const [account, topic] of [
      ['ingest', 'completions'],
      ['ingest', 'dead-letters'],
      ['submit', 'completions'],
      ['submit', 'dead-letters'],
      ['finish', 'summaries'],
      ['join', 'results'],
      ['sweep', 'completions'],
    ]) {
      assert.ok(
        publishes.some((n) => n.account === account && n.on === `topic ${topic}`),
        `${account} -> ${topic}`,
      );
    }
    assert.ok(allNeeds().some((n) => n.account === 'sweep' && n.method === 'firestore.RunQuery'));
  });

  test('taking away any one grant refuses a call', () => {
    for (const { address } of grantsOf(plan)) {
      const without = plan.without(address);
      assert.notDeepEqual(missing(without), [], `nobody misses ${address}`);
    }
  });
});
