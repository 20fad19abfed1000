import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, describe, test } from 'node:test';
import { BUS } from './bus.ts';
import { CAPABILITIES, SIDES, type Capability } from './capabilities.ts';
import { EVENTS } from './events.ts';
import { fakeWorld } from './fake-world.ts';
import { localWorld } from './local-world.ts';
import { page, PAGE } from './page.ts';
import { STORE } from './store.ts';
import { TASKS } from './tasks.ts';
import { WAREHOUSE } from './warehouse.ts';
import { observed, type World } from './world.ts';

const START = { fake: fakeWorld, local: localWorld };
const CONTRACTS = { store: STORE, bus: BUS, tasks: TASKS, events: EVENTS, warehouse: WAREHOUSE };

for (const side of SIDES) {
  describe(`on the ${side} ports`, () => {
    let world: World;
    before(async () => {
      world = await START[side]();
    });
    after(() => world.stop());
    afterEach(() => world.calm());
    for (const [port, contract] of Object.entries(CONTRACTS)) {
      describe(port, () => {
        for (const [name, property] of Object.entries(contract)) test(name, () => property(world));
      });
    }
    test('every declared difference was looked at', () => {
      assert.deepEqual([...observed[side]].sort(), Object.keys(CAPABILITIES).sort());
    });
  });
}

test('every declared difference is one', () => {
  for (const [id, { fake, local, google }] of Object.entries<Capability>(CAPABILITIES)) {
    assert.ok(fake !== local || local !== google, id);
  }
});

test('docs/contract.md is the table (`node test/contract/page.ts` writes it)', () => {
  assert.equal(readFileSync(PAGE, 'utf8'), page());
});
