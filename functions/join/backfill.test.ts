import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START } from '../../test/fakes/clock.ts';
import { OPEN, type Gate } from '../../test/fakes/gate.ts';
import { checkResults, config, FAULTS, faulty, MINUTE, published, start, world, type Fault } from './fixture.ts';
import type { JoinReport } from './run.ts';

const DAY = 86_400e6;
const TODAY = Math.floor(START / DAY) * DAY;

/** Five days of history that no run has seen. */
function history() {
  const w = world({ wait: '0s' });
  for (let day = 1; day <= 5; day++) w.insert(`h${day}`, 'known', TODAY - day * DAY + MINUTE);
  w.insert('h3', 'known', TODAY - 3 * DAY + MINUTE);
  w.advance(60 * MINUTE);
  return w;
}
const ALL = ['h1', 'h2', 'h3', 'h4', 'h5'];
const FROM = TODAY - 5 * DAY;

test('history is published once, in steps, and a repetition publishes nothing', async () => {
  const w = history();
  await w.tick();
  assert.deepEqual(published(w), []);
  const report = await w.backfill(FROM, TODAY);
  assert.deepEqual([report.outcome, report.published], ['done', 5]);
  assert.deepEqual(published(w).sort(), ALL);
  assert.equal([...w.warehouse.jobs.values()].filter(({ job }) => job.labels['codaflow_step'] === 'merge').length, 3);
  assert.equal((await w.backfill(FROM, TODAY)).published, 0);
  checkResults(w.bus.published('results'), w);
  assert.equal(w.cursor().backfill, null);
});

test('it takes only the event times it was asked for, to the microsecond', async () => {
  const w = history();
  await w.backfill(TODAY - 4 * DAY + MINUTE, TODAY - 2 * DAY + MINUTE);
  assert.deepEqual(published(w).sort(), ['h3', 'h4']);
});

test('the cursor stays where it is, and the live windows catch up after each step', async () => {
  const w = history();
  await w.tick();
  const { position } = w.cursor();
  w.insert('live');
  w.advance(2 * MINUTE);
  await w.backfill(FROM, TODAY);
  assert.deepEqual(published(w).sort(), [...ALL, 'live']);
  assert.equal(w.cursor().position, position! + 2 * MINUTE);
});

test('a tick answers busy while a backfill is alive, and a backfill while a tick is', async () => {
  const w = history();
  let tick: JoinReport | undefined;
  let other: string | undefined;
  const inside = (work: () => Promise<void>): Gate => ({
    ...OPEN,
    before: async ({ method }) => {
      if (method === 'publish') await work();
    },
  });
  await w.backfill(
    FROM,
    TODAY,
    9,
    inside(async () => void (tick = await w.tick())),
  );
  assert.equal(tick!.outcome, 'busy');
  w.insert('live');
  w.advance(2 * MINUTE);
  await w.tick(inside(async () => void (other = (await w.backfill(FROM, TODAY)).outcome)));
  assert.equal(other, 'busy');
});

test('another range waits until the one that was begun has ended or is forgotten', async () => {
  const w = history();
  let gate!: Gate;
  const crash = new Promise<void>((resolve) => (gate = faulty(new Map([[20, 'crash before']]), resolve)));
  await Promise.race([w.backfill(FROM, TODAY, 1, gate), crash]);
  w.advance(config.joinLease);
  const report = await w.backfill(FROM, TODAY - DAY);
  assert.equal(report.outcome, 'other');
  assert.equal(report.found!.to, TODAY);
  assert.equal((await w.backfill(FROM, TODAY)).outcome, 'done');
  assert.deepEqual([...new Set(published(w))].sort(), ALL);
});

test('a step that fails for good is halved, down to a day; the join itself is not blocked by it', async () => {
  const w = history();
  await w.tick();
  const tooLong = new Set<string>();
  w.warehouse.fate = (job) => {
    const spans = job.sql.match(/>= TIMESTAMP '([^']+)' AND \S+ < TIMESTAMP '([^']+)'/);
    const days = (Date.parse(spans![2]!.slice(0, 10)) - Date.parse(spans![1]!.slice(0, 10))) / 86_400_000;
    if (job.labels['codaflow_step'] !== 'merge' || days <= 1) return null;
    tooLong.add(job.jobId);
    return { state: 'failed', reason: 'bytesBilledLimitExceeded', message: 'too much', curable: false };
  };
  await w.backfill(FROM, TODAY, 4);
  assert.equal(tooLong.size, 2);
  assert.deepEqual(published(w).sort(), ALL);
  assert.equal(w.cursor().failures, 0);
});

/** A backfill under a fault, perhaps a tick in between, then the same command until it is done. */
async function scenario(faults: ReadonlyMap<number, Fault>, tickBetween: boolean): Promise<number> {
  const w = await start({ wait: '0s' });
  for (let day = 1; day <= 3; day++) w.insert(`h${day}`, 'known', TODAY - day * DAY + MINUTE);
  w.advance(60 * MINUTE);
  let gate!: ReturnType<typeof faulty>;
  const crash = new Promise<void>((resolve) => (gate = faulty(faults, resolve)));
  await Promise.race([w.backfill(TODAY - 3 * DAY, TODAY, 2, gate).catch(() => undefined), crash]);
  const calls = gate.calls.length;
  w.advance(3 * MINUTE);
  if (tickBetween) await w.tick().catch(() => undefined);
  assert.equal((await w.backfill(TODAY - 3 * DAY, TODAY, 2)).outcome, 'done');
  const label = JSON.stringify([...faults]);
  assert.deepEqual([...new Set(published(w))].sort(), ['h1', 'h2', 'h3'], label);
  assert.deepEqual([w.cursor().run, w.cursor().backfill], [null, null], label);
  checkResults(w.bus.published('results'), w);
  // Only what follows a crash or a lost answer comes twice.
  const twice = published(w).length - new Set(published(w)).size;
  if (![...faults.values()].some((fault) => fault !== 'refuse')) assert.equal(twice, 0, label);
  return calls;
}

test('stopped anywhere it goes on without loss, with and without a tick in between', async () => {
  const calls = await scenario(new Map(), false);
  assert.ok(calls > 30, `${calls} calls`);
  for (let n = 0; n < calls; n++)
    for (const fault of FAULTS) for (const tick of [false, true]) await scenario(new Map([[n, fault]]), tick);
});
