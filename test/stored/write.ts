import { CURRENT, SCENARIOS, writeFixture } from './fixtures.ts';

/** Writes the fixtures that are missing, under the current version; those that are there stay as they are. */
for (const scenario of Object.keys(SCENARIOS)) {
  if (await writeFixture(CURRENT, scenario)) console.log(`${CURRENT}/${scenario}`);
}
