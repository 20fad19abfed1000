import assert from 'node:assert/strict';
import { AmbiguousError, PermanentError, TransientError } from '../../functions/core/errors.ts';
import type { JobState, QueryJob } from '../../functions/ports.ts';
import { eventRow } from './events.ts';
import { job, merge, probe, read, TABLES } from './statements.ts';
import { failure, fresh, observe, type Contract, type World } from './world.ts';

const SECOND = 1e6;
const DAY = 86_400e6;

/** Starts a job and waits for its end. */
async function run({ warehouse }: World, one: QueryJob): Promise<JobState> {
  await warehouse.start(one);
  for (let waits = 0; waits < 60; waits++) {
    const state = await warehouse.wait(one.jobId, 1000);
    if (state.state !== 'running') return state;
  }
  throw new Error(`job ${one.jobId} does not end`);
}

/** All rows of a result, page by page. */
async function rows({ warehouse }: World, jobId: string, pageSize = 2): Promise<Record<string, string | null>[]> {
  const found: Record<string, string | null>[] = [];
  let token: string | null = null;
  do {
    const page = await warehouse.page(jobId, token, pageSize);
    assert.ok(page !== null && page.rows.length <= pageSize);
    found.push(...page.rows);
    token = page.next;
  } while (token !== null);
  return found;
}

/** How many rows a window has, by event day. */
async function count(world: World, start: number, end: number): Promise<number> {
  const one = probe(`job_${fresh()}`, start, end);
  const state = await run(world, one);
  assert.equal(state.state, 'done', JSON.stringify(state));
  return (await rows(world, one.jobId)).reduce((sum, { events }) => sum + Number(events), 0);
}

/** Appends events and moves on; the window that has them and nothing else. */
async function appended(
  world: World,
  ...events: readonly (readonly [id: string, time: number])[]
): Promise<[number, number]> {
  world.advance(SECOND);
  const start = world.now();
  await world.reference('known', 'Known');
  await world.events.append(events.map(([id, time]) => eventRow(id, time)));
  world.advance(SECOND);
  return [start, world.now()];
}

async function ledgerIds(world: World, runId: string, ...times: number[]): Promise<string[]> {
  const one = read(`job_${fresh()}`, runId, ...times);
  assert.equal((await run(world, one)).state, 'done');
  return (await rows(world, one.jobId)).map(({ event_id: id }) => id!);
}

function inserted(state: JobState): number {
  assert.equal(state.state, 'done', JSON.stringify(state));
  return state.state === 'done' ? state.insertedRows : NaN;
}

export const WAREHOUSE: Contract = {
  'has a clock of its own, and its tables are older than that': async ({ warehouse, now }) => {
    assert.ok(Math.abs((await warehouse.now()) - now()) < SECOND);
    assert.ok((await warehouse.created(TABLES.source)) <= now());
  },

  'a window has the rows that were committed in it: the start is in, the end is not': async (world) => {
    const [name, time] = [`${fresh()}-`, world.now()];
    // Event times go the other way: they do not count.
    for (const n of [1, 2, 3]) await appended(world, [`${name}${n}`, time - n * DAY]);
    const commits = (await world.commits()).filter(({ id }) => id.startsWith(name));
    const [first, second, third] = commits.map((commit) => commit.time).sort((a, b) => a - b);
    assert.equal(await count(world, first!, second!), 1);
    assert.equal(await count(world, first!, second! + 1), 2);
    assert.equal(await count(world, first! + 1, third!), 1);
    assert.equal(await count(world, first!, third! + 1), 3);
    assert.equal(await count(world, third!, third!), 0);
  },

  'a row is seen by the next query': async (world) => {
    const [start, end] = await appended(world, [fresh(), world.now()]);
    assert.equal(await count(world, start, end), 1);
  },

  'a window that ends in the future is refused, and so is one from before time travel': async (world) => {
    const now = world.now();
    for (const [start, end] of [
      [now - SECOND, now + 60 * SECOND],
      [now - 8 * DAY, now - SECOND],
    ] as const) {
      const one = probe(`job_${fresh()}`, start, end);
      const refused = await run(world, one).catch((error: unknown) => error);
      const state = await world.warehouse.state(one.jobId);
      assert.ok(state.state === 'failed' && !state.curable, JSON.stringify(state));
      observe(world, 'warehouse: statement that cannot run', refused instanceof PermanentError ? 'refused at start' : 'fails when it runs'); // prettier-ignore
    }
  },

  'one id is one job: the second start attaches, and the statement of the first counts': async (world) => {
    const [start, end] = await appended(world, ['a', world.now()], ['b', world.now()]);
    const id = `job_${fresh()}`;
    assert.equal(await world.warehouse.start(probe(id, start, end)), 'started');
    assert.equal(await world.warehouse.start(probe(id, end, end)), 'exists');
    assert.equal((await world.warehouse.wait(id, 5000)).state, 'done');
    assert.equal(await world.warehouse.start(probe(id, end, end)), 'exists');
    assert.deepEqual((await rows(world, id)).map(({ events }) => events), ['2']); // prettier-ignore
  },

  'of many who start one job at once, one does': async (world) => {
    const one = probe(`job_${fresh()}`, world.now() - SECOND, world.now());
    const results = await Promise.all(Array.from({ length: 5 }, () => world.warehouse.start(one)));
    assert.equal(results.filter((result) => result === 'started').length, 1);
  },

  'a result is a snapshot: it stays the same, page by page, whatever is written meanwhile': async (world) => {
    const [runId, time] = [fresh(), world.now()];
    const five = [1, 2, 3, 4, 5].map((n) => [`${runId}-${n}`, time] as const);
    const [start, end] = await appended(world, ...five);
    assert.equal(inserted(await run(world, merge(`job_${fresh()}`, start, end, runId, time))), 5);
    const one = read(`job_${fresh()}`, runId, time);
    await run(world, one);
    const first = await world.warehouse.page(one.jobId, null, 2);
    const [again, later] = await appended(world, [`${runId}-6`, time]);
    assert.equal(inserted(await run(world, merge(`job_${fresh()}`, again, later, runId, time))), 1);
    const second = await world.warehouse.page(one.jobId, first!.next, 2);
    const third = await world.warehouse.page(one.jobId, second!.next, 2);
    const results = [first, second, third].flatMap((page) => page!.rows.map((row) => row['result_id']!));
    assert.equal(third!.next, null);
    assert.equal(new Set(results).size, 5);
    assert.deepEqual(results, results.toSorted());
    assert.deepEqual(await world.warehouse.page(one.jobId, null, 2), first);
    assert.equal((await ledgerIds(world, runId, time)).length, 6);
  },

  'an empty result has one empty page': async (world) => {
    const one = read(`job_${fresh()}`, fresh(), world.now());
    await run(world, one);
    assert.deepEqual(await world.warehouse.page(one.jobId, null, 10), { rows: [], next: null });
  },

  'a MERGE writes each result once, however often it runs and its events are repeated': async (world) => {
    const [runId, time] = [fresh(), world.now()];
    const [start] = await appended(world, [`${runId}-a`, time], [`${runId}-a`, time], [`${runId}-b`, time]);
    const [, end] = await appended(world, [`${runId}-a`, time]);
    assert.equal(inserted(await run(world, merge(`job_${fresh()}`, start, end, runId, time))), 2);
    assert.equal(inserted(await run(world, merge(`job_${fresh()}`, start, end, fresh(), time))), 0);
    assert.deepEqual((await ledgerIds(world, runId, time)).sort(), [`${runId}-a`, `${runId}-b`]);
  },

  'a MERGE leaves out the days that it does not name': async (world) => {
    const [runId, time] = [fresh(), world.now()];
    const [start, end] = await appended(world, [`${runId}-a`, time], [`${runId}-b`, time - DAY]);
    assert.equal(inserted(await run(world, merge(`job_${fresh()}`, start, end, runId, time))), 1);
    assert.deepEqual(await ledgerIds(world, runId, time, time - DAY), [`${runId}-a`]);
  },

  'a job that is not there is absent; nobody minds its cancelling': async ({ warehouse }) => {
    const id = `job_${fresh()}`;
    assert.equal((await warehouse.state(id)).state, 'absent');
    assert.equal((await warehouse.wait(id, 10)).state, 'absent');
    await warehouse.cancel(id);
    assert.equal(await warehouse.page(id, null, 1), null);
  },

  'a job that fails says so under its id for ever': async (world) => {
    const one = job(`job_${fresh()}`, 'nothing', { sql: "SELECT ERROR('taken up')", parameters: {} });
    const state = await run(world, one);
    assert.ok(state.state === 'failed' && !state.curable, JSON.stringify(state));
    assert.equal(await world.warehouse.start(probe(one.jobId, world.now(), world.now())), 'exists');
    assert.deepEqual(await world.warehouse.state(one.jobId), state);
    assert.ok((await failure(world.warehouse.page(one.jobId, null, 1))) instanceof PermanentError);
  },

  'a job that runs has no page yet; cancelled, it has failed and is not begun again': async (world) => {
    const sql = `SELECT COUNT(*) AS n
      FROM UNNEST(GENERATE_ARRAY(1, 30000)) AS a, UNNEST(GENERATE_ARRAY(1, 30000)) AS b
      WHERE MOD(a * b, 7919) = 1`;
    const one = job(`job_${fresh()}`, 'slow', { sql, parameters: {} });
    world.endJobs(false);
    await world.warehouse.start(one);
    assert.equal((await world.warehouse.wait(one.jobId, 1)).state, 'running');
    const error = await failure(world.warehouse.page(one.jobId, null, 1));
    assert.ok(error instanceof TransientError && error.code === 'not_ready', String(error));
    await world.warehouse.cancel(one.jobId);
    const state = await run(world, one);
    assert.ok(state.state === 'failed' && !state.curable && state.reason === 'stopped', JSON.stringify(state));
    world.endJobs(true);
    assert.deepEqual(await run(world, one), state);
  },

  'what is done is not cancelled': async (world) => {
    const one = probe(`job_${fresh()}`, world.now() - SECOND, world.now());
    const state = await run(world, one);
    await world.warehouse.cancel(one.jobId);
    assert.deepEqual(await world.warehouse.state(one.jobId), state);
  },

  'a statement that is none is told before it runs': async (world) => {
    const nonsense = job(`job_${fresh()}`, 'nonsense', { sql: 'SELEC nothing', parameters: {} });
    const started = await world.warehouse.start(nonsense).catch((error: Error) => error);
    const price = await world.warehouse.estimate(nonsense).catch((error: Error) => error);
    const seen = [started, price].map((one) => (one instanceof PermanentError ? one.code : String(one)));
    observe(world, 'warehouse: statement that is none', seen.join(', '));
  },

  'a statement that would bill more than it may does not run': async (world) => {
    const [runId, time] = [fresh(), world.now()];
    const [start, end] = await appended(world, [runId, time]);
    const state = await run(world, { ...merge(`job_${fresh()}`, start, end, runId, time), maxBytesBilled: 1 });
    observe(world, 'warehouse: bound of billed bytes', state.state === 'failed' ? `${state.reason}, ${state.curable}` : state.state); // prettier-ignore
    const written = (await ledgerIds(world, runId, time)).length;
    assert.equal(written, state.state === 'failed' ? 0 : 1);
  },

  'a table that is not there': async (world) => {
    const found = await world.warehouse.created(`${TABLES.source}_missing`).catch((error: Error) => error);
    observe(world, 'warehouse: table that is not there', found instanceof Error ? found.name : 'found');
  },

  'a start that was refused leaves no job': async (world) => {
    const one = probe(`job_${fresh()}`, world.now() - SECOND, world.now());
    world.trouble('warehouse', 'refused');
    const error = await failure(world.warehouse.start(one));
    world.calm();
    assert.ok(error instanceof TransientError, String(error));
    assert.equal((await world.warehouse.state(one.jobId)).state, 'absent');
  },

  'a start that never arrived at first': async (world) => {
    const one = probe(`job_${fresh()}`, world.now() - SECOND, world.now());
    world.trouble('warehouse', 'never arrived', 1);
    const result = await world.warehouse.start(one).catch((error: unknown) => error);
    world.calm();
    const { state } = await world.warehouse.state(one.jobId);
    const told = result instanceof Error ? result.name : String(result);
    observe(world, 'warehouse: request that never arrived once', `${told}, ${state === 'absent' ? 'no job' : 'a job'}`);
  },

  'a start whose answer is lost leaves its job, which the next start finds': async (world) => {
    const one = probe(`job_${fresh()}`, world.now() - SECOND, world.now());
    world.trouble('warehouse', 'answer lost');
    const result = await world.warehouse.start(one).catch((error: unknown) => error);
    world.calm();
    observe(world, 'warehouse: answer lost', result instanceof AmbiguousError ? result.name : String(result));
    assert.equal(await world.warehouse.start(one), 'exists');
    assert.equal((await run(world, one)).state, 'done');
  },

  // Last: a day passes.
  'a result expires, its job does not': async (world) => {
    const one = probe(`job_${fresh()}`, world.now() - SECOND, world.now());
    const state = await run(world, one);
    world.expireResults();
    assert.equal(await world.warehouse.page(one.jobId, null, 1), null);
    assert.deepEqual(await world.warehouse.state(one.jobId), state);
    assert.equal(await world.warehouse.start(one), 'exists');
  },
};
