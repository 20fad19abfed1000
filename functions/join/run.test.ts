import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError, TransientError } from '../core/errors.ts';
import { START } from '../../test/fakes/clock.ts';
import { OPEN, type Gate } from '../../test/fakes/gate.ts';
import { checkResults, config, FAULTS, faulty, MINUTE, published, start, type Fault } from './fixture.ts';
import type { JoinReport } from './run.ts';

test('events of one moment before and after a run are each published once', async () => {
  const w = await start();
  w.insert('e1');
  w.advance(2 * MINUTE);
  await w.tick();
  w.insert('e2');
  w.advance(2 * MINUTE);
  await w.tick();
  await w.tick();
  assert.deepEqual(published(w), ['e1', 'e2']);
});

test('a repeated row is published once, inside a window and across windows', async () => {
  const w = await start();
  w.insert('e1');
  w.insert('e1');
  w.advance(2 * MINUTE);
  await w.tick();
  w.insert('e1');
  w.advance(2 * MINUTE);
  await w.tick();
  assert.deepEqual(published(w), ['e1']);
});

test('an event that is months late by its time is published', async () => {
  const w = await start();
  w.insert('late', 'known', START - 150 * 86_400e6);
  w.advance(2 * MINUTE);
  await w.tick();
  assert.deepEqual(published(w), ['late']);
});

test('a row waits for its reference row, then goes out with it', async () => {
  const w = await start();
  w.insert('e1', 'new');
  w.advance(2 * MINUTE);
  await w.tick();
  assert.deepEqual(published(w), []);
  w.warehouse.reference.set('new', 'New');
  w.advance(2 * MINUTE);
  await w.tick();
  assert.match(String(w.bus.published('results')[0]!.data), /"target_attribute":"New","enriched":true/);
});

test('a row whose reference row does not come goes out without it when its wait is over', async () => {
  const w = await start();
  w.insert('e1', 'never');
  for (let i = 0; i < 8; i++) {
    w.advance(2 * MINUTE);
    await w.tick();
  }
  assert.deepEqual(published(w), ['e1']);
  assert.match(String(w.bus.published('results')[0]!.data), /"enriched":false/);
});

test('an idle table does not stall the cursor', async () => {
  const w = await start();
  w.advance(60 * MINUTE);
  await w.tick();
  assert.equal(w.cursor().position, w.now() - MINUTE);
});

test('after a long stop the cursor catches up in capped steps within one tick', async () => {
  const w = await start();
  for (let i = 0; i < 5; i++) {
    w.advance(5 * 60 * MINUTE);
    w.insert(`e${i}`);
  }
  w.advance(2 * MINUTE);
  const report = await w.tick();
  assert.equal(report.windows, 5);
  assert.deepEqual(published(w), ['e0', 'e1', 'e2', 'e3', 'e4']);
});

test('a cursor older than time travel scans the table once and loses nothing', async () => {
  const w = await start();
  w.insert('e1');
  w.advance(9 * 24 * 60 * MINUTE);
  w.insert('e2');
  w.advance(2 * MINUTE);
  await w.tick();
  assert.deepEqual(published(w).sort(), ['e1', 'e2']);
});

test('a row that the topic refuses is a dead letter with that reason, not with the size as a guess', async () => {
  const w = await start();
  w.insert('e1');
  w.advance(2 * MINUTE);
  const refused = [new PermanentError('message_refused', 'it does not match the schema of the topic')];
  await w.tick({
    ...OPEN,
    run: async (call, effect) => (call.resource === 'results' ? (refused as ReturnType<typeof effect>) : effect()),
  });
  const [letter] = w.bus.published('deadLetters');
  assert.deepEqual(
    [letter!.attributes['reason'], letter!.attributes['hint']],
    ['message_refused', refused[0]!.message],
  );
  assert.deepEqual(published(w), []);
});

test('a run that is alive makes the next one answer busy', async () => {
  const w = await start();
  w.insert('e1');
  w.advance(2 * MINUTE);
  let inside: JoinReport | undefined;
  const gate: Gate = {
    ...OPEN,
    before: async ({ method }) => {
      if (method === 'publish') inside = await w.tick();
    },
  };
  await w.tick(gate);
  assert.equal(inside!.outcome, 'busy');
  assert.deepEqual(published(w), ['e1']);
});

test('a run that lost its lease while it published writes nothing more', async () => {
  const w = await start();
  for (let i = 0; i < 6; i++) w.insert(`e${i}`);
  w.advance(2 * MINUTE);
  let after: number | undefined;
  const gate: Gate = {
    ...OPEN,
    before: async ({ method }) => {
      if (method !== 'publish' || after !== undefined) return;
      w.advance(config.joinLease);
      await w.tick();
      after = w.bus.published('results').length;
    },
  };
  await assert.rejects(w.tick(gate), (error: TransientError) => error.code === 'lease_lost');
  const position = w.cursor().position;
  // Only the page that was already on its way comes again.
  assert.ok(w.bus.published('results').length - after! <= config.joinPage);
  checkResults(w.bus.published('results'), w);
  await w.tick();
  assert.ok(w.cursor().position! >= position!);
});

/** Two windows with repeats under these faults of the first ticks, then fair weather. */
async function scenario(faults: ReadonlyMap<number, Fault>): Promise<number> {
  const w = await start({ wait: '0s' });
  for (const id of ['e1', 'e2', 'e3', 'e2']) w.insert(id);
  w.advance(2 * MINUTE);
  let calls = 0;
  const attempt = async (offset: number): Promise<number> => {
    let gate!: ReturnType<typeof faulty>;
    const crash = new Promise<void>((resolve) => {
      gate = faulty(new Map([...faults].map(([n, f]) => [n - offset, f] as const)), resolve);
    });
    await Promise.race([w.tick(gate).catch(() => undefined), crash]);
    return gate.calls.length;
  };
  calls += await attempt(0);
  w.insert('e3');
  w.insert('e4', 'never', START + 86_400e6);
  w.advance(3 * MINUTE);
  calls += await attempt(calls);
  for (let i = 0; i < 4; i++) {
    w.advance(3 * MINUTE);
    await w.tick();
  }
  const label = JSON.stringify([...faults]);
  assert.deepEqual([...new Set(published(w))].sort(), ['e1', 'e2', 'e3', 'e4'], label);
  assert.equal(w.cursor().position, w.now() - MINUTE, label);
  assert.equal(w.cursor().run, null, label);
  checkResults(w.bus.published('results'), w);
  if (faults.size === 0) assert.equal(published(w).length, 4);
  return calls;
}

test('no single fault at any call loses a row, leaves a hole or gives an id two contents', async () => {
  const calls = await scenario(new Map());
  assert.ok(calls > 30, `${calls} calls`);
  for (let n = 0; n < calls; n++) for (const fault of FAULTS) await scenario(new Map([[n, fault]]));
});

test('nor does a pair of faults (every fourth pair, the kinds in turn)', async () => {
  const calls = await scenario(new Map());
  for (let n = 0; n < calls; n++) {
    for (let m = n + 1 + (n % 4); m < calls + 5; m += 4) {
      const [a, b] = [FAULTS[(n + m) % 4]!, FAULTS[(n * 3 + m) % 4]!];
      await scenario(new Map([[n, a], [m, b]])); // prettier-ignore
    }
  }
});
