import assert from 'node:assert/strict';
import { AmbiguousError, TransientError } from '../../functions/core/errors.ts';
import type { EventRow } from '../../functions/core/event.ts';
import { failure, fresh, observe, type Contract, type World } from './world.ts';

const DAY = 86_400e6;

export function eventRow(id: string, time: number, changes: Partial<EventRow> = {}): EventRow {
  return { event_id: id, unique_key: 'k', event_status: 's', event_time: time, join_key: 'known', sequence: null, payload: null, extra: null, attributes: null, message_id: id, publish_time: null, ingest_time: time, ...changes }; // prettier-ignore
}

/** Commits of the rows whose ids begin like this, in the order of their commit times. */
async function commitsOf(world: World, prefix: string): Promise<{ id: string; time: number }[]> {
  return (await world.commits()).filter(({ id }) => id.startsWith(prefix)).sort((a, b) => a.time - b.time);
}

const ids = (commits: readonly { readonly id: string }[]) => commits.map(({ id }) => id).sort();

export const EVENTS: Contract = {
  'what is appended is there when the answer is, under one commit time': async (world) => {
    const name = `${fresh()}-`;
    const rows = [1, 2, 3].map((n) => eventRow(`${name}${n}`, world.now() - n * DAY));
    assert.deepEqual(await world.events.append(rows), [{ ok: true }, { ok: true }, { ok: true }]);
    const commits = await commitsOf(world, name);
    assert.deepEqual(ids(commits), [1, 2, 3].map((n) => `${name}${n}`)); // prettier-ignore
    assert.equal(new Set(commits.map(({ time }) => time)).size, 1);
  },

  'nothing is appended of nothing': async ({ events }) => {
    assert.deepEqual(await events.append([]), []);
  },

  'a later append has a later commit time, whatever its events say': async (world) => {
    const name = `${fresh()}-`;
    for (const n of [1, 2, 3]) await world.events.append([eventRow(`${name}${n}`, world.now() - n * DAY)]);
    const commits = await commitsOf(world, name);
    assert.deepEqual(commits.map(({ id }) => id), [1, 2, 3].map((n) => `${name}${n}`)); // prettier-ignore
    assert.equal(new Set(commits.map(({ time }) => time)).size, 3);
  },

  'rows that are refused are named, and their neighbours are stored': async (world) => {
    const name = `${fresh()}-`;
    const [now, old, far] = [world.now(), world.now() - 3651 * DAY, world.now() + 367 * DAY];
    const rows = [now, old, now, far, now].map((time, i) => eventRow(`${name}${i}`, time));
    const results = await world.events.append(rows);
    assert.deepEqual(results.map(({ ok }) => ok), [true, false, true, false, true]); // prettier-ignore
    assert.ok(results.every((result) => result.ok || result.reason !== ''));
    assert.deepEqual(ids(await commitsOf(world, name)), [`${name}0`, `${name}2`, `${name}4`]);
  },

  'the range of times reaches to its bounds': async (world) => {
    const name = `${fresh()}-`;
    const rows = [-3650 * DAY, 366 * DAY].map((ahead, i) => eventRow(`${name}${i}`, world.now() + ahead));
    assert.deepEqual(await world.events.append(rows), [{ ok: true }, { ok: true }]);
  },

  'a repeated row is stored again': async (world) => {
    const name = fresh();
    for (let i = 0; i < 2; i++) await world.events.append([eventRow(name, world.now())]);
    assert.equal((await commitsOf(world, name)).length, 2);
  },

  'concurrent appends have their own answers': async (world) => {
    const name = `${fresh()}-`;
    const time = (i: number) => (i % 3 === 0 ? world.now() - 4000 * DAY : world.now());
    const rows = Array.from({ length: 12 }, (_, i) => eventRow(`${name}${i}`, time(i)));
    const results = await Promise.all(rows.map((row) => world.events.append([row])));
    assert.deepEqual(results.map(([result]) => result!.ok), rows.map((_, i) => i % 3 !== 0)); // prettier-ignore
    assert.equal((await commitsOf(world, name)).length, 8);
  },

  'an append that was refused has no effect': async (world) => {
    const name = fresh();
    world.trouble('events', 'refused');
    const error = await failure(world.events.append([eventRow(name, world.now())]));
    world.calm();
    assert.ok(error instanceof TransientError, String(error));
    assert.deepEqual(await commitsOf(world, name), []);
  },

  'an append that never arrived has no effect': async (world) => {
    const name = fresh();
    world.trouble('events', 'never arrived');
    const error = await failure(world.events.append([eventRow(name, world.now())]));
    world.calm();
    const copies = (await commitsOf(world, name)).length;
    observe(world, 'events: request that never arrived', `${error.name}, ${copies === 0 ? 'no effect' : 'done'}`);
  },

  'an append whose answer is lost once has its effect': async (world) => {
    const name = fresh();
    world.trouble('events', 'answer lost', 1);
    const result = await world.events.append([eventRow(name, world.now())]).catch((error: Error) => error);
    world.calm();
    const copies = (await commitsOf(world, name)).length;
    observe(world, 'events: answer lost once', `${copies}, ${result instanceof Error ? result.name : 'ok'}`);
  },

  'an append whose every answer is lost is in doubt, and has its effect': async (world) => {
    const name = `${fresh()}-`;
    world.trouble('events', 'answer lost');
    const rows = [1, 2].map((n) => eventRow(`${name}${n}`, world.now()));
    assert.ok((await failure(world.events.append(rows))) instanceof AmbiguousError);
    world.calm();
    assert.deepEqual(new Set(ids(await commitsOf(world, name))), new Set([`${name}1`, `${name}2`]));
  },
};
