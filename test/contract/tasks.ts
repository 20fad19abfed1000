import assert from 'node:assert/strict';
import { AmbiguousError, PermanentError, TransientError } from '../../functions/core/errors.ts';
import type { Task } from '../../functions/ports.ts';
import { failure, fresh, observe, type Contract, type World } from './world.ts';

const MINUTE = 60e6;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const task = (name: string, scheduleTime: number | null = null): Task => ({ queue: 'poll', name, scheduleTime, body: '{"n":1}' }); // prettier-ignore

/** Whether a task has gone out by now; another one, sent at once, is the proof that there was time for it. */
async function isSent(world: World, name: string): Promise<boolean> {
  const proof = fresh();
  await world.tasks.create(task(proof));
  return (await world.sent(proof)).includes(name);
}

export const TASKS: Contract = {
  'a task goes out; its name is taken once': async ({ tasks, sent }) => {
    const name = fresh();
    assert.equal(await tasks.create(task(name)), 'created');
    assert.equal(await tasks.create(task(name)), 'exists');
    assert.equal((await sent(name)).filter((one) => one === name).length, 1);
  },

  'of many who create one task at once, one does': async ({ tasks, now }) => {
    const name = fresh();
    const later = task(name, now() + HOUR);
    const results = await Promise.all(Array.from({ length: 10 }, () => tasks.create(later)));
    assert.equal(results.filter((result) => result === 'created').length, 1);
  },

  'a task does not go out before its time': async (world) => {
    const name = fresh();
    await world.tasks.create(task(name, world.now() + HOUR));
    world.advance(HOUR - 1000);
    assert.equal(await isSent(world, name), false);
    world.advance(1000);
    assert.ok((await world.sent(name)).includes(name));
  },

  'a time that is past is now': async ({ tasks, sent, now }) => {
    const name = fresh();
    await tasks.create(task(name, now() - DAY));
    assert.ok((await sent(name)).includes(name));
  },

  'thirty days ahead, not more': async ({ tasks, now }) => {
    const late = await failure(tasks.create(task(fresh(), now() + 30 * DAY + MINUTE)));
    assert.ok(late instanceof PermanentError, String(late));
    assert.equal(await tasks.create(task(fresh(), now() + 30 * DAY)), 'created');
  },

  'a name and a size that are not legal are refused for good': async ({ tasks }) => {
    for (const one of [task('a/b'), task('x'.repeat(501)), { ...task(fresh()), body: 'x'.repeat(2 ** 20 + 1) }]) {
      const error = await failure(tasks.create(one));
      assert.ok(error instanceof PermanentError && error.code === 'message_refused', String(error));
    }
  },

  'the name of a task that is gone becomes free later': async (world) => {
    const name = fresh();
    await world.tasks.create(task(name));
    await world.sent(name);
    // The server forgets it when its answer has arrived.
    await isSent(world, name);
    world.advance(HOUR - MINUTE);
    assert.equal(await world.tasks.create(task(name)), 'exists');
    world.advance(2 * MINUTE);
    const result = await world.tasks.create(task(name));
    observe(world, 'tasks: name after the task is gone', result === 'created' ? 'after 1 h' : 'later than 1 h');
  },

  'a task may be accepted and lost, and its name is taken all the same': async (world) => {
    const name = fresh();
    world.loseTasks(true);
    assert.equal(await world.tasks.create(task(name)), 'created');
    world.loseTasks(false);
    assert.equal(await isSent(world, name), false);
    assert.equal(await world.tasks.create(task(name)), 'exists');
  },

  'a creation that was refused has no effect': async (world) => {
    const name = fresh();
    world.trouble('tasks', 'refused');
    assert.ok((await failure(world.tasks.create(task(name)))) instanceof TransientError);
    world.calm();
    assert.equal(await world.tasks.create(task(name)), 'created');
  },

  'a creation that never arrived has no effect': async (world) => {
    const name = fresh();
    world.trouble('tasks', 'never arrived');
    const error = await failure(world.tasks.create(task(name)));
    world.calm();
    const again = await world.tasks.create(task(name));
    observe(world, 'tasks: creation that never arrived', `${error.name}, ${again === 'created' ? 'no effect' : 'done'}`); // prettier-ignore
  },

  'a creation whose answer is lost is found by its name': async (world) => {
    const name = fresh();
    world.trouble('tasks', 'answer lost');
    assert.ok((await failure(world.tasks.create(task(name)))) instanceof AmbiguousError);
    world.calm();
    assert.equal(await world.tasks.create(task(name)), 'exists');
    assert.ok((await world.sent(name)).includes(name));
  },
};
