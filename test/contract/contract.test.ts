import { after, afterEach, before, describe, test } from 'node:test';
import { BUS } from './bus.ts';
import { SIDES } from './capabilities.ts';
import { fakeWorld } from './fake-world.ts';
import { localWorld } from './local-world.ts';
import { STORE } from './store.ts';
import type { World } from './world.ts';

const START = { fake: fakeWorld, local: localWorld };
const CONTRACTS = { store: STORE, bus: BUS };

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
  });
}
