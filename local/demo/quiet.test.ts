import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntilQuiet, type Pending } from './quiet.ts';

const { signal } = new AbortController();
const idle = { backlog: { events: 0 }, dueKeys: 0, joinPosition: 0 };

async function wait(looks: readonly Pending[], stuckMs = 1000): Promise<number> {
  let n = 0;
  let clock = 100;
  await waitUntilQuiet({
    look: async () => looks[Math.min(n++, looks.length - 1)]!,
    onLook: () => undefined,
    now: () => clock++,
    signal,
    pauseMs: 1,
    stuckMs,
  });
  return n;
}

test('waits for messages, for keys and for the join to pass the moment when all was stored', async () => {
  const looks = [
    { ...idle, backlog: { events: 3 }, joinPosition: 1000 },
    { ...idle, dueKeys: 1, joinPosition: 1000 },
    { ...idle, joinPosition: null },
    // All was stored by 102.
    { ...idle, joinPosition: 101 },
    { ...idle, joinPosition: 102 },
    { ...idle, joinPosition: 102 },
  ];
  assert.equal(await wait(looks), 6);
});

test('says what it waits for when nothing moves', async () => {
  await assert.rejects(
    wait([{ ...idle, backlog: { 'events-ingest': 3 }, dueKeys: 2 }], 10),
    /3 messages of events-ingest, 2 summaries/,
  );
  await assert.rejects(wait([idle], 10), /waiting for the join/);
});
