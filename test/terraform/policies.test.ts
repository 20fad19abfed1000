import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { SETTINGS, type Setting } from '../../functions/settings.ts';
import { OPTIONAL } from './permissions.ts';
import { check, namesOf, POLICIES } from './policies.ts';
import { withoutTerraform, Workspace, type Plan } from './terraform.ts';

/** What must hold of any plan, and of the two that differ most. */

function seconds({ parse, fallback }: Setting<number>): number {
  return parse(fallback ?? '') / 1e6;
}

describe('policies', { skip: withoutTerraform }, () => {
  let workspace: Workspace;
  before(async () => {
    workspace = await new Workspace().open();
  });
  after(() => workspace.close());

  const PLANS: Readonly<Record<string, object>> = {
    'by default': {},
    'with everything optional': {
      prefix: 'staging',
      firestore: { edition: 'ENTERPRISE' },
      publishers: { shop: 'serviceAccount:shop@demo-project.iam.gserviceaccount.com' },
      submitters: { shop: 'serviceAccount:shop@demo-project.iam.gserviceaccount.com' },
      bigquery: {
        joins_may_read: ['demo-project.warehouse'],
        events_expiration_days: 400,
        events_partitioning: 'HOUR',
      },
      polling: { job_projects: ['other-project'], secrets: { ORDERS: { secret: 'orders-token' } } },
      alerts: { emails: ['ops@example.com'] },
      budget: { billing_account: '000000-000000-000000', units: 50 },
    },
  };
  for (const [name, variables] of Object.entries(PLANS)) {
    test(name, async () => {
      const plan: Plan = await workspace.plan(variables as Record<string, unknown>);
      for (const policy of Object.keys(POLICIES)) assert.deepEqual(check(policy, plan), [], policy);
    });
  }

  test("joins into Codaflow's own topics are refused", async () => {
    const own = ['events', 'completions', 'summaries', 'dead-letters', 'watches'];
    const folders = own.map((_, n) => path.join(workspace.root, 'joins', `own${n}`));
    for (const [n, folder] of folders.entries()) {
      mkdirSync(folder);
      writeFileSync(path.join(folder, 'join.json'), JSON.stringify({ topic: own[n] }));
      writeFileSync(path.join(folder, 'query.sql'), 'SELECT * FROM new_events');
    }
    try {
      await assert.rejects(workspace.plan(), ({ message }: Error) => {
        const refused = message.replace(/[│\s]+/g, ' ').matchAll(/topic (\S+) is Codaflow's own/g);
        assert.deepEqual([...refused].map(([, topic]) => topic).sort(), own.toSorted());
        return true;
      });
    } finally {
      for (const folder of folders) rmSync(folder, { recursive: true });
    }
  });

  test('deployments with another prefix share no name', async () => {
    const all = { event_schema: { definition: '{}' }, ...OPTIONAL.variables };
    const plain = namesOf(await workspace.plan(all));
    const prefixed = namesOf(await workspace.plan({ ...all, prefix: 'staging' }));
    assert.ok(plain.length > 50 && plain.length === prefixed.length);
    assert.deepEqual(
      plain.filter((name) => prefixed.includes(name)),
      [],
    );
  });

  test('protection can be turned off, for those who mean it', async () => {
    const plan = await workspace.plan({ deletion_protection: false });
    assert.notDeepEqual(check('data is protected from deletion', plan), []);
  });

  test('the defaults of deadlines nest: port call < request < function < acknowledgement', async () => {
    const plan = await workspace.plan();
    const port = seconds(SETTINGS.portDeadline);
    const request = seconds(SETTINGS.requestBudget);
    assert.ok(port < request);
    for (const f of plan.of('google_cloudfunctions2_function')) {
      const [service] = f.after['service_config'] as [{ timeout_seconds: number }];
      assert.ok(request < service.timeout_seconds, `${f.key}: ${request} s of a request`);
    }
    const budget = seconds(SETTINGS.joinBudget);
    const join = plan.of('google_cloudfunctions2_function').find((f) => f.key === 'join')!;
    assert.ok(budget < (join.after['service_config'] as [{ timeout_seconds: number }])[0].timeout_seconds);
  });
});
