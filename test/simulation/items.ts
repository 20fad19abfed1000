import assert from 'node:assert/strict';
import type { Micros } from '../../functions/core/event.ts';
import type { Document } from '../../functions/ports.ts';
import type { Look } from '../fakes/probes.ts';
import type { PlannedWatch } from './plan.ts';
import type { Held } from './subscription.ts';
import { SKEW } from './watch.ts';
import type { Watcher, World } from './world.ts';

const HOUR = 3600e6;
const LATE_COMMIT = 600e6;
/** `max_interval` of a watch that names none. */
const CEILING = 600e6;

/** What was seen of one life of a watch. */
export interface Life {
  readonly id: string;
  /** When the store first had it. */
  readonly since: Micros;
  /** When its outcome was stored, and which it is. */
  decided: { readonly at: Micros; readonly outcome: string } | null;
  /** The text of its event, once it was published. */
  text: string | null;
  /** Ids that somebody was told its event will have. */
  readonly shown: Set<unknown>;
  readonly looks: { readonly attempt: number; readonly look: Look }[];
  document: Document;
}

/** Lives of the watched items of a world, in the order of their creation. */
export const livesOf = new WeakMap<World, Life[]>();

type Followed = Pick<Watcher, 'committed' | 'published' | 'armed' | 'looked' | 'answered'>;

/** Holds watched items to what must be true in every moment; remembers what must be true at the end. */
export function followItems(world: World): Followed & { acknowledged(held: Held): void } {
  const lives: Life[] = [];
  livesOf.set(world, lives);
  const current = new Map<string, Life>();

  function committed(document: Document, now: Micros): void {
    const id = document['watch_id'] as string;
    const known = current.get(id);
    const isNew = known === undefined || known.document['created'] !== document['created'];
    const life = isNew ? begin(id, document, now) : known;
    if (!isNew) checkStep(life, known.document, document);
    if (document['outcome'] !== undefined) life.decided ??= { at: now, outcome: document['outcome'] as string };
    checkWakeUp(life, document, now);
    life.document = document;
  }

  function begin(id: string, document: Document, now: Micros): Life {
    const life: Life = { id, since: now, decided: null, text: null, shown: new Set(), looks: [], document };
    lives.push(life);
    current.set(id, life);
    return life;
  }

  /** Attempts count on one by one, an outcome is for ever. */
  function checkStep({ id, text }: Life, before: Document, after: Document): void {
    const ofOutcome = ({ outcome, outcome_at: at, reason, answer, confirmed }: Document) =>
      JSON.stringify([outcome, at, reason, answer, confirmed === true ? 'confirmed' : '']);
    const [from, to] = [Number(before['attempt']), Number(after['attempt'])];
    if (before['outcome'] !== undefined) {
      assert.equal(after['outcome'], before['outcome'], `${id} has a second outcome`);
      const confirms = before['confirmed'] !== true && after['confirmed'] === true;
      const expected = ofOutcome(confirms ? { ...before, confirmed: true } : before);
      assert.equal(ofOutcome(after), expected, `${id} changed its outcome`);
      assert.equal(to, from, `${id} counts attempts after its outcome`);
      if (confirms) assert.ok(text !== null, `${id} is confirmed and its event is not published`);
    } else if (after['outcome'] === undefined) {
      const taken = after['last_checked'] !== before['last_checked'] || to !== from;
      assert.equal(to, from + (taken ? 1 : 0), `${id} took in an attempt that was not the next`);
    }
  }

  function checkWakeUp({ id }: Life, document: Document, now: Micros): void {
    const { wake_at: wakeAt, expire_at: expireAt } = document;
    const { watchSlack, retention } = world.config;
    if (document['confirmed'] === true) {
      assert.equal(wakeAt, undefined, `${id} is done and is woken`);
      assert.ok(Number(expireAt) > now + retention - LATE_COMMIT, `${id} is done and kept too short`);
      return;
    }
    assert.ok(typeof wakeAt === 'number', `${id} owes an event and nothing will wake it`);
    assert.equal(expireAt, undefined, `${id} owes an event and may be deleted`);
    const pause = Math.max(CEILING, ...plannedOf(world, id).map(({ interval }) => interval * 1e6));
    assert.ok(wakeAt <= now + Math.max(HOUR, pause + watchSlack) + SKEW, `${id} sleeps too long`);
  }

  return {
    committed(changes, now) {
      for (const [path, document] of changes) {
        if (path.startsWith('watches/') && document !== null) committed(document, now);
      }
    },
    published(topic, { data }) {
      if (topic !== 'events' || !(data as string).includes('"watch":{')) return;
      const event = JSON.parse(data as string) as { event_id: string; watch: { watch_id: string; outcome: string } };
      const { watch_id: id, outcome } = event.watch;
      const life = lives.find((one) => one.id === id && [data, null].includes(one.text));
      assert.ok(life !== undefined, `${id} has a second event: ${data as string}`);
      // What is emitted was decided, so nothing else can follow, and nothing at all follows a confirmed cancellation.
      assert.equal(outcome, life.decided?.outcome, `${id} tells what is not decided`);
      life.text = data as string;
    },
    armed({ body }) {
      const task = JSON.parse(body) as { watch_id: string; generation: number; attempt: number };
      const document = current.get(task.watch_id)?.document;
      assert.ok(document !== undefined, `${task.watch_id} has a task and no state`);
      const known = task.generation < Number(document['created']) || task.attempt <= Number(document['attempt']);
      assert.ok(known, `${task.watch_id} has a task for an attempt that its state does not know`);
    },
    looked(look) {
      const life = current.get(look.name)!;
      life.looks.push({ attempt: Number(life.document['attempt']), look });
    },
    acknowledged({ message }) {
      const { watch_id: id } = JSON.parse(message.data as string) as { watch_id: string };
      assert.ok(current.has(id), `${id} is acknowledged and not stored`);
    },
    answered(planned, { status, body }) {
      if (status >= 300 || !('watch' in planned || 'cancel' in planned)) return;
      const { state, watch_id: id, event_id: eventId } = body as Record<string, string>;
      const life = current.get(id!);
      assert.ok(life !== undefined, `${id} is confirmed and not stored`);
      // Who creates a watch is told how it stood then; who cancels it, how it ended.
      const told = 'cancel' in planned || state !== 'watching';
      if (told) assert.equal(state, life.decided?.outcome, `${id} is not ${state}`);
      life.shown.add(eventId);
    },
  };
}

/** Everything that was planned under one watch id. */
export function plannedOf(world: World, id: string): PlannedWatch[] {
  return world.plan.messages.flatMap((one) => ('watch' in one && one.watch.id === id ? [one.watch] : []));
}
