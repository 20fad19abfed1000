import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeCursor, encodeCursor } from './cursor-codec.ts';
import { begin, blocked, fail, fenced, finish, giveUp, NEW_CURSOR, place, renew, takeLease, update } from './cursor.ts';
import type { Cursor, Run } from './cursor.ts';

const NOW = 1_790_000_000_000_000;
const LEASE = 120e6;

const run: Run = {
  id: 'run-1',
  reads: { kind: 'window', start: NOW - 600e6, end: NOW - 60e6 },
  more: false,
  days: null,
  daysPerMerge: 1000,
  step: 'probe',
  attempt: 1,
  published: '',
  count: 0,
  merged: 0,
  abandoned: false,
  previous: NOW - 180e6,
};

const held = takeLease(place(NEW_CURSOR, NOW - 180e6), 'a', NOW, LEASE)!;
const running = begin(held, run)!;

test('a live lease is not taken, an expired one is, with a higher token', () => {
  assert.equal(takeLease(held, 'b', NOW + LEASE - 1, LEASE), null);
  const taken = takeLease(held, 'b', NOW + LEASE, LEASE)!;
  assert.equal(taken.token, held.token + 1);
  assert.equal(taken.lease!.owner, 'b');
});

test('taking a lease again after a lost answer changes nothing', () => {
  assert.equal(takeLease(held, 'a', NOW + 1, LEASE), held);
});

test('nothing is written under a lease that another run took', () => {
  const taken = takeLease(held, 'b', NOW + LEASE, LEASE)!;
  assert.equal(
    fenced(taken, held.token, (c) => c),
    null,
  );
  assert.equal(
    fenced(taken, taken.token, (c) => c),
    taken,
  );
  assert.equal(
    fenced({ ...held, lease: null }, held.token, (c) => c),
    null,
  );
});

test('renewing moves only the end of the lease', () => {
  assert.deepEqual(renew(held, NOW + 5, LEASE), { ...held, lease: { ...held.lease!, until: NOW + 5 + LEASE } });
});

test('a run begins once; another run does not replace it', () => {
  assert.equal(begin(running, run), running);
  assert.equal(begin(running, { ...run, id: 'run-2' }), null);
});

test('only the run in progress is changed, and its progress is never taken back', () => {
  assert.equal(update(running, 'run-2', { count: 1 }), null);
  const further = update(running, 'run-1', { published: 'b', count: 2 })!;
  assert.equal(update(further, 'run-1', { published: 'a', count: 1 }), null);
  assert.deepEqual(update(further, 'run-1', { published: 'b', count: 2 }), further);
});

test('ending a run moves the cursor to the end of its window, once, and never back', () => {
  const ended = finish(running, 'run-1')!;
  assert.equal(ended.position, NOW - 60e6);
  assert.equal(finish(ended, 'run-1'), ended);
  assert.equal(finish(ended, 'run-2'), null);
  assert.equal(finish({ ...running, position: NOW }, 'run-1')!.position, NOW);
});

test('a failed attempt is counted once', () => {
  const failed = fail(running, 'run-1', 'probe', 1)!;
  assert.equal(failed.run!.attempt, 2);
  assert.equal(fail(failed, 'run-1', 'probe', 1), failed);
});

test('giving up keeps the cursor, halves the step, then goes day by day, then is blocked', () => {
  let cursor: Cursor = running;
  const step = 4 * 60e6;
  const shrinks: [number, number][] = [];
  for (let i = 0; i < 4; i++) {
    cursor = giveUp({ ...cursor, run: { ...run, id: `run-${i}` } }, `run-${i}`, step)!;
    shrinks.push([cursor.shrink, cursor.daysPerMerge]);
  }
  assert.deepEqual(shrinks, [
    [1, 1000],
    [2, 1000],
    [2, 1],
    [2, 1],
  ]);
  assert.equal(cursor.position, running.position);
  assert.ok(blocked(cursor));
});

test('what is stored reads back the same, positions as text', () => {
  for (const cursor of [NEW_CURSOR, held, running, finish(running, 'run-1')!]) {
    assert.deepEqual(decodeCursor(encodeCursor(cursor)), cursor);
  }
  assert.equal(encodeCursor(running).position, String(NOW - 180e6));
  assert.throws(() => decodeCursor({ ...encodeCursor(held), v: 2 }), /deploy the newer code/);
});
