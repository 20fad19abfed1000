import assert from 'node:assert/strict';
import type { Document } from '../../functions/ports.ts';
import type { Changes } from '../fakes/store.ts';
import { followAnswers } from './answers.ts';
import { followItems } from './items.ts';
import type { Held } from './subscription.ts';
import type { Watcher, World } from './world.ts';

const HOUR = 3600e6;
/** Clocks of instances differ by at most this much. */
export const SKEW = 3e6;
/** A commit may come so much later than the clock was read for it. */
const LATE_COMMIT = 600e6;

/** Events that a part of the system said are safe with it. */
export interface Acceptance {
  /** Throws unless the table and the key's state hold the event. */
  accepted(key: string, id: string): void;
}

/** Holds every commit and every answer to what must be true in every moment. */
export function watch(world: World): Watcher {
  const keys = followKeys(world);
  const items = followItems(world);
  const answers = followAnswers(world, keys);
  return {
    committed(changes, now) {
      keys.committed(changes, now);
      items.committed(changes, now);
    },
    acknowledged(topic, held) {
      const isDead = world.bus
        .published('deadLetters')
        .some((letter) => Buffer.from(letter.data).equals(Buffer.from(held.message.data)));
      if (isDead) return;
      if (topic === 'events') keys.acknowledged(held);
      else items.acknowledged(held);
    },
    published: items.published,
    armed: items.armed,
    looked: items.looked,
    answered(planned, answer) {
      if ('submit' in planned) answers.answered(planned, answer);
      else items.answered(planned, answer);
    },
  };
}

/** Keys and joins. */
function followKeys(world: World): Acceptance & Pick<Watcher, 'committed'> & { acknowledged(held: Held): void } {
  const before = new Map<string, Document>();
  /** Events that each life of a key counted. */
  const lives = new Map<string, Map<unknown, number>>();
  /** Ids of each key that somebody was told are safe. */
  const told = new Map<string, Set<string>>();

  function checkSequence(path: string, document: Document, now: number): void {
    const { version, confirmed, wake_at: wakeAt, expire_at: expireAt, key } = document as Record<string, number>;
    const owes = version! > confirmed!;
    const { silence, age, settleMax } = world.config;
    if (owes) {
      assert.ok(wakeAt !== undefined, `${path} owes a summary and nothing will wake it`);
      assert.ok(expireAt === undefined, `${path} owes a summary and may be deleted`);
      const latest = now + Math.max(HOUR, Math.min(silence, age), settleMax) + SKEW;
      assert.ok(wakeAt <= latest, `${path} sleeps too long`);
    } else {
      assert.ok(document['claim'] === undefined, `${path} is covered and has a claim`);
      assert.ok(wakeAt === undefined, `${path} is covered and is woken`);
      assert.ok(expireAt! > now + world.config.retention - LATE_COMMIT, `${path} is covered and kept too short`);
    }
    assert.ok(version! <= idsStored(String(key)).size, `${path} counts an event that the table does not hold`);
    const ofKey = lives.get(String(key)) ?? new Map<unknown, number>();
    lives.set(String(key), ofKey.set(document['generation'], version!));
    const old = before.get(path);
    if (old?.['generation'] === document['generation']) {
      assert.ok(version! >= Number(old!['version']), `${path} forgot an event`);
      assert.ok(confirmed! >= Number(old!['confirmed']), `${path} is less covered than before`);
    }
  }

  function checkCursor(path: string, document: Document): void {
    const old = before.get(path);
    assert.ok(Number(document['position']) >= Number(old?.['position'] ?? 0), `${path} moved back`);
    assert.ok(Number(document['token']) >= Number(old?.['token'] ?? 0), `${path} took its token back`);
    const [from, to] = [old?.['lease_owner'] ?? null, document['lease_owner'] ?? null];
    const isSame = from === null || to === null || from === to || document['token'] !== old?.['token'];
    assert.ok(isSame, `two runs hold one lease of ${path}`);
  }

  function idsStored(key: string): Set<string> {
    const rows = world.events.commits.filter(({ row }) => row.unique_key === key);
    return new Set(rows.map(({ row }) => row.event_id));
  }

  function accepted(key: string, id: string): void {
    assert.ok(idsStored(key).has(id), `${key} ${id} is acknowledged and in no table`);
    const ids = told.get(key) ?? new Set();
    told.set(key, ids.add(id));
    const counted = [...(lives.get(key)?.values() ?? [])].reduce((sum, version) => sum + version, 0);
    assert.ok(counted >= ids.size, `${key} ${id} is acknowledged and not in the key's state`);
  }

  return {
    committed(changes: Changes, now) {
      for (const [path, document] of changes) {
        const [collection, , child] = path.split('/');
        if (document === null) before.delete(path);
        else {
          if (collection === 'sequences' && child === undefined) checkSequence(path, document, now);
          if (collection === 'cursors') checkCursor(path, document);
          before.set(path, document);
        }
      }
    },
    acknowledged({ message }) {
      const event = JSON.parse(message.data as string) as { unique_key: string; event_id: string };
      accepted(event.unique_key, event.event_id);
    },
    accepted,
  };
}
