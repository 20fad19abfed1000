import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { fakeClock } from '../../test/fakes/clock.ts';
import { TransientError } from '../core/errors.ts';
import { End } from '../end.ts';
import { GroupCommit, type GroupLimits } from './group.ts';

const LIMITS: GroupLimits = { groupBytes: 100, pendingBytes: 1000, itemBytes: 0, budget: 25e6, calls: 1 };
const CALL = 10e6;

/** A group commit whose groups end when the test says so. */
function setup(limits: Partial<GroupLimits> = {}) {
  const clock = fakeClock();
  const groups: { items: readonly string[]; until: number; end: (error?: Error) => void }[] = [];
  const group = new GroupCommit<string, string>(
    (items, end) =>
      new Promise((resolve, reject) => {
        groups.push({
          items,
          until: end.at,
          end: (error) => (error ? reject(error) : resolve(items.map((item) => `fate of ${item}`))),
        });
      }),
    { ...LIMITS, ...limits },
    clock,
  );
  /** An item that has to be done within so many seconds. */
  const submit = (item: string, bytes: number, seconds = 35): Promise<string> =>
    group.submit(item, bytes, new End(clock.now() + seconds * 1e6, clock, CALL));
  return { clock, groups, commit: { submit } };
}

/** Lets everything run that waits for nothing. */
const settled = () => setImmediate();

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => (error as TransientError).code,
  );
}

describe('group commit', () => {
  test('goes at once when nothing is under way; what waits goes together', async () => {
    const { groups, commit } = setup();
    const fates = ['a', 'b', 'c'].map((item) => commit.submit(item, 10));
    assert.deepEqual(
      groups.map(({ items }) => items),
      [['a']],
    );
    groups[0]!.end();
    assert.equal(await fates[0], 'fate of a');
    await settled();
    assert.deepEqual(
      groups.map(({ items }) => items),
      [['a'], ['b', 'c']],
    );
    groups[1]!.end();
    assert.deepEqual(await Promise.all(fates), ['fate of a', 'fate of b', 'fate of c']);
    await settled();
    commit.submit('d', 10).catch(assert.fail);
    assert.deepEqual(groups[2]!.items, ['d']);
    groups[2]!.end();
  });

  test('groups are cut at their byte limit; what is larger goes alone', async () => {
    const { groups, commit } = setup();
    const sizes = { first: 1, a: 60, b: 40, c: 1, large: 500, d: 1 };
    const all = Promise.all(Object.entries(sizes).map(([item, bytes]) => commit.submit(item, bytes)));
    for (let i = 0; i < 5; i++) {
      groups[i]?.end();
      await settled();
    }
    await all;
    assert.deepEqual(
      groups.map(({ items }) => items),
      [['first'], ['a', 'b'], ['c'], ['large'], ['d']],
    );
  });

  test('a failed group fails its own items only', async () => {
    const { groups, commit } = setup();
    const fates = ['a', 'b'].map((item) => commit.submit(item, 10));
    groups[0]!.end(new Error('no'));
    await assert.rejects(fates[0]!, /no/);
    await settled();
    groups[1]!.end();
    assert.equal(await fates[1], 'fate of b');
  });

  test('whose group could not end in time is refused, even while a group hangs', async () => {
    const { clock, groups, commit } = setup();
    commit.submit('hangs', 10).catch(assert.fail);
    const early = codeOf(commit.submit('early', 10));
    clock.advance(20e6);
    const late = commit.submit('late', 10);
    clock.advance(5e6);
    assert.equal(await early, 'overloaded');
    clock.advance(10e6);
    groups[0]!.end();
    await settled();
    assert.deepEqual(groups[1]!.items, ['late']);
    groups[1]!.end();
    assert.equal(await late, 'fate of late');
  });

  test('every one of many waiters is refused in time', async () => {
    const { clock, commit } = setup();
    commit.submit('hangs', 1).catch(assert.fail);
    const codes: Promise<string>[] = [];
    for (let i = 0; i < 10; i++) {
      codes.push(codeOf(commit.submit(`w${i}`, 1)));
      clock.advance(1e6);
    }
    for (let i = 0; i < 25; i++) {
      clock.advance(1e6);
      await settled();
    }
    assert.deepEqual(await Promise.all(codes), Array(10).fill('overloaded'));
  });

  test('what would pass the bound of waiting bytes is refused at once', async () => {
    const { groups, commit } = setup({ pendingBytes: 110, itemBytes: 5 });
    const running = commit.submit('running', 500);
    const waits = commit.submit('waits', 60);
    assert.equal(await codeOf(commit.submit('too much', 41)), 'overloaded');
    const fits = commit.submit('fits', 40);
    groups[0]!.end();
    await running;
    await settled();
    groups[1]!.end();
    assert.deepEqual(await Promise.all([waits, fits]), ['fate of waits', 'fate of fits']);
  });

  test('a group that hangs is overtaken where that is allowed, and still has its fate', async () => {
    const { clock, groups, commit } = setup({ overtakeMs: 10_000 });
    const hangs = commit.submit('hangs', 1);
    const waits = commit.submit('waits', 1);
    clock.advance(9_999_000);
    await settled();
    assert.equal(groups.length, 1);
    clock.advance(1_000);
    await settled();
    groups[1]!.end();
    assert.equal(await waits, 'fate of waits');
    groups[0]!.end();
    assert.equal(await hangs, 'fate of hangs');
  });

  test('whoever has less time left is refused first, whenever it came', async () => {
    const { clock, groups, commit } = setup();
    commit.submit('hangs', 1).catch(assert.fail);
    const patient = commit.submit('patient', 1, 60);
    const hurried = codeOf(commit.submit('hurried', 1, 15));
    assert.equal(await codeOf(commit.submit('too late', 1, 10)), 'overloaded');
    clock.advance(5e6);
    assert.equal(await hurried, 'overloaded');
    groups[0]!.end();
    await settled();
    groups[1]!.end();
    assert.equal(await patient, 'fate of patient');
  });

  test('a group ends by its budget, or by the first end in it', async () => {
    const { clock, groups, commit } = setup();
    const start = clock.now();
    const fates = [
      commit.submit('a', 1),
      commit.submit('b', 1, 40),
      commit.submit('c', 1, 12),
      commit.submit('d', 1, 50),
    ];
    groups[0]!.end();
    await settled();
    groups[1]!.end();
    await Promise.all(fates);
    assert.deepEqual(
      groups.map(({ until }) => (until - start) / 1e6),
      [25, 12],
    );
  });

  test('under any arrivals each item has its own fate, one group runs at a time, and bytes stay bounded', async () => {
    const step = fc.record({ bytes: fc.integer({ min: 1, max: 120 }), gap: fc.boolean(), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        let running = 0;
        const clock = fakeClock();
        const commit = new GroupCommit<number, number>(
          async (items) => {
            assert.equal(++running, 1);
            const bytes = items.reduce((sum, item) => sum + steps[item]!.bytes, 0);
            assert.ok(items.length === 1 || bytes <= LIMITS.groupBytes);
            await settled();
            running--;
            if (steps[items[0]!]!.fails) throw new Error(`group of ${items.join()}`);
            return items.map((item) => item * 10);
          },
          { ...LIMITS, pendingBytes: 300 },
          clock,
        );
        const fates = await Promise.allSettled(
          await steps.reduce<Promise<Promise<number>[]>>(async (before, { bytes, gap }, item) => {
            const list = await before;
            if (gap) await settled();
            const fate = commit.submit(item, bytes, new End(clock.now() + 35e6, clock, CALL));
            fate.catch(() => undefined);
            return [...list, fate];
          }, Promise.resolve([])),
        );
        fates.forEach((fate, item) => {
          if (fate.status === 'fulfilled') assert.equal(fate.value, item * 10);
          else if (!(fate.reason instanceof TransientError)) {
            assert.ok((fate.reason as Error).message.slice(9).split(',').includes(String(item)));
          }
        });
      }),
      { numRuns: 100 },
    );
  });
});
