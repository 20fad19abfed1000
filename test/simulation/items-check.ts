import assert from 'node:assert/strict';
import { START } from '../fakes/clock.ts';
import { livesOf, plannedOf, type Life } from './items.ts';
import { watchText } from './messages.ts';
import { CODAS, type PlannedEvent, type PlannedWatch } from './plan.ts';
import { SKEW } from './watch.ts';
import type { World } from './world.ts';

const MINUTE = 60e6;
/** The longest pause between two wake-ups. */
const BACKOFF = 60 * MINUTE;
/** Repeats that faults left behind have come by then. */
const SETTLED = 15 * MINUTE;

interface Outcome {
  readonly event_id: string;
  readonly unique_key: string;
  readonly event_status: string;
  readonly timestamp: string;
  readonly payload?: unknown;
  readonly watch: { readonly outcome: string; readonly attempts: number };
}

/** Holds watched items at rest to what was planned; returns the events that they became. */
export function checkItems(world: World): { readonly event: PlannedEvent; readonly text: string }[] {
  const lives = livesOf.get(world)!;
  for (const id of new Set(world.plan.messages.flatMap((one) => ('watch' in one ? [one.watch.id] : [])))) {
    checkCreations(world, id, lives.filter((life) => life.id === id)); // prettier-ignore
  }
  return lives.map((life) => ({ event: checkLife(world, life), text: life.text! }));
}

/** Of what was asked for under one id, one content is watched; the others were refused. */
function checkCreations(world: World, id: string, lives: readonly Life[]): void {
  const letters = new Map(
    world.bus.published('deadLetters').map((one) => [Buffer.from(one.data).toString(), one.attributes['reason']]),
  );
  const contents = new Set(plannedOf(world, id).map(watchText));
  const refused = [...contents].filter((text) => letters.has(text));
  const exhausted = refused.some((text) => letters.get(text) !== 'watch_conflict');
  assert.ok(lives.length > 0 || exhausted, `${id} is not watched`);
  if (!world.plan.ttl) assert.ok(lives.length <= 1, `${id} is watched twice`);
}

function checkLife(world: World, life: Life): PlannedEvent {
  const { id, text, decided, document, since } = life;
  const planned = chosen(world, life);
  assert.ok(text !== null && decided !== null, `${id} has no event`);
  const event = JSON.parse(text) as Outcome;
  const outcome = event.watch.outcome;
  assert.equal(event.unique_key, planned.key);
  assert.equal(event.event_status, outcome === 'ready' && planned.completes === true ? CODAS[0] : outcome);
  if (planned.probe === 'http' && outcome === 'ready') assert.deepEqual(event.payload, { state: 'ready' });
  for (const shown of life.shown) assert.equal(shown, event.event_id, `${id} was to have another event id`);
  assert.equal(event.watch.attempts, document['attempt']);
  const asked = START + Math.min(...world.plan.messages.flatMap((one) => ('watch' in one && one.watch.id === id ? [one.at * 1000] : []))); // prettier-ignore
  const created = Number(document['created']);
  assert.ok(created >= asked - SKEW && created <= since + SKEW, `${id} says that it began at another time`);
  checkReason(world, life, planned, outcome);
  checkTime(world, life, planned);
  checkChain(world, life);
  const time = Date.parse(event.timestamp) + Number(/\.\d{3}(\d{3})Z$/.exec(event.timestamp)?.[1] ?? 0) / 1000;
  assert.ok(time * 1000 > since - SKEW && time * 1000 < decided.at + SKEW, `${id} ended at another time`);
  return { key: planned.key, id: event.event_id, status: event.event_status, time: time - START / 1000 };
}

/** Which of the contents under its id this life has: they differ in their timeouts. */
function chosen(world: World, { id, document }: Life): PlannedWatch {
  const { timeout } = JSON.parse(document['spec'] as string) as { timeout: number };
  const found = plannedOf(world, id).find((one) => one.timeout * 1e6 === timeout);
  assert.ok(found !== undefined, `${id} has a timeout that nobody asked for`);
  return found;
}

/** An outcome is what a look was told; a timeout is a look that began no earlier, and was not told that it is ready. */
function checkReason(world: World, { id, document, looks }: Life, { timeout }: PlannedWatch, outcome: string): void {
  const isTold = (...answers: unknown[]) => looks.some(({ look }) => answers.includes(look.told));
  const end = Number(document['created']) + timeout * 1e6;
  switch (outcome) {
    case 'ready':
      return assert.ok(isTold('ready'), `${id} is ready and nobody saw it`);
    case 'failed':
      return assert.ok(isTold('lost'), `${id} failed and nobody saw it`);
    case 'cancelled':
      return assert.ok(
        world.plan.messages.some((one) => 'cancel' in one && one.cancel === id),
        `${id} was cancelled`,
      );
    default: {
      const last = looks.filter(({ look }) => look.begun >= end - SKEW);
      const vain = last.filter(({ look }) => look.told !== 'ready' && look.told !== 'lost' && look.told !== null);
      assert.ok(vain.length > 0, `${id} timed out and nobody looked when its time was over`);
    }
  }
}

/** The outcome is not late: from the last moment that could change anything, at most one pause and what a fault costs. */
function checkTime(world: World, { id, since, decided, looks }: Life, planned: PlannedWatch): void {
  const end = since + planned.timeout * 1e6;
  const known = [planned.readyAt, planned.lostAt ?? null].map((at) => (at === null ? Infinity : START + at * 1000));
  const troubled = Math.max(0, ...(planned.trouble ?? []).map(({ until }) => START + until * 1000));
  const clear = Math.max(Math.min(end, Math.max(...[Math.min(...known), troubled])), since);
  const pause = Math.max(planned.interval * 1e6, (planned.backoff ?? 1) > 1 ? 600e6 : 0);
  if (world.faultsMet === 0) {
    assert.ok(decided!.at <= clear + pause + 5e6, `${id} was decided ${(decided!.at - clear) / 1e6} s late`);
    const attempts = new Set(looks.map(({ attempt }) => attempt));
    assert.equal(attempts.size, looks.length, `${id} was looked at twice in one attempt`);
  } else {
    const quiet = Math.max(clear, world.lastFault);
    const bound = pause + world.config.watchSlack + BACKOFF + SETTLED;
    assert.ok(decided!.at <= quiet + bound, `${id} was decided ${(decided!.at - quiet) / 60e6} min late`);
  }
}

/** Once faults have stopped there is one chain of attempts: each attempt looks once. */
function checkChain(world: World, { id, looks }: Life): void {
  const quiet = world.lastFault + SETTLED;
  for (const [attempt, ofAttempt] of Map.groupBy(looks, (one) => one.attempt)) {
    if (!ofAttempt.every(({ look }) => look.begun > quiet)) continue;
    assert.equal(ofAttempt.length, 1, `${id} has two chains: attempt ${attempt} looked ${ofAttempt.length} times`);
  }
}
