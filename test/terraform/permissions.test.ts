import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { METHODS, ROLES, SOURCES } from './methods.ts';
import { allNeeds, grantsOf, missing, OPTIONAL, recordedCalls, superfluous } from './permissions.ts';
import { entryPoint, FUNCTION_NAMES, topicsOf } from './source-graph.ts';
import { Plan, withoutTerraform, Workspace } from './terraform.ts';

describe('permissions', { skip: withoutTerraform }, () => {
  let workspace: Workspace;
  let plan: Plan;
  before(async () => {
    workspace = await new Workspace().open();
    plan = await workspace.plan(OPTIONAL.variables);
  });
  after(() => workspace.close());

  test('every call is allowed', () => assert.deepEqual(missing(plan), []));

  test('every grant is used', () => assert.deepEqual(superfluous(plan), []));

  test('taking away any one grant refuses a call', async (t) => {
    const grants = grantsOf(plan);
    assert.ok(grants.length >= 40);
    for (const { address } of grants) {
      await t.test(address, () => assert.notDeepEqual(missing(plan.without(address)), []));
    }
  });

  test('nothing optional is granted unasked', async () => {
    const granted = grantsOf(await workspace.plan()).map(({ address }) => address);
    const optional = grantsOf(plan).filter(({ address }) => !granted.includes(address));
    assert.deepEqual(optional.map(({ on }) => on).sort(), ['dataset demo-project.warehouse', 'function submit', 'project', 'secret orders', 'topic events']); // prettier-ignore
  });
});

test('the recording has every function, and every topic that its code publishes to', () => {
  const topics: Readonly<Record<string, string>> = { deadLetters: 'dead-letters', join: 'results' };
  const recorded = recordedCalls();
  assert.deepEqual(Object.keys(recorded), [...FUNCTION_NAMES].sort());
  for (const [name, calls] of Object.entries(recorded)) {
    const published = topicsOf(entryPoint(name)!).map((topic) => `pubsub.Publish topic ${topics[topic] ?? topic}`);
    assert.deepEqual(calls.filter((call) => call.startsWith('pubsub.')), published.sort(), name); // prettier-ignore
  }
});

test('the tables have a source for every method, and nothing that nobody needs', () => {
  const needed = new Set(allNeeds().map((need) => need.method));
  const own = new Set(Object.values(recordedCalls()).flatMap((calls) => calls.map((call) => call.split(' ')[0]!)));
  for (const method of Object.keys(METHODS)) {
    assert.ok(method.split('.')[0]! in SOURCES, method);
    assert.ok(needed.has(method) || own.has(method) || method === 'bigquery.jobs.cancel', method);
  }
  const permissions = new Set(Object.values(METHODS).flat());
  for (const [role, held] of Object.entries(ROLES)) for (const one of held) assert.ok(permissions.has(one), `${role}: ${one}`); // prettier-ignore
});
