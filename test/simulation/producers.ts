import { START } from '../fakes/clock.ts';
import { callUntilFinal } from './client.ts';
import { messageOf, watchText } from './messages.ts';
import type { PlannedMessage, SubmittedItem } from './plan.ts';
import type { World } from './world.ts';

/** Everybody outside: each does what is planned when its time comes. */
export function beginProducers(world: World): void {
  world.plan.messages.forEach((planned, index) => {
    world.tasks.add(`publish at ${planned.at}`, START + planned.at * 1000, () => produce(world, planned, index));
  });
  world.queues.submit.onAnswer = (task, answer) => {
    world.watcher.answered(world.plan.messages[Number(task.name.slice('task-'.length))]!, answer);
  };
}

function produce(world: World, planned: PlannedMessage, index: number): void {
  const told = (answer: { status: number }): void => world.watcher.answered(planned, answer);
  if ('watch' in planned) {
    const text = watchText(planned.watch);
    if (planned.by === 'post') callUntilFinal(world, 'poll', { rawBody: Buffer.from(text) }, told);
    else world.bus.publish({ name: 'watches' }, [{ data: text, attributes: {} }]);
  } else if ('cancel' in planned) {
    callUntilFinal(world, 'poll', { method: 'DELETE', query: `watch_id=${planned.cancel}` }, told);
  } else if ('submit' in planned) {
    const body = bodyOf(planned.submit);
    if (planned.by === 'call') callUntilFinal(world, 'submit', { rawBody: Buffer.from(body) }, told);
    else world.queues.submit.tasks.create({ queue: 'poll', name: `task-${index}`, scheduleTime: null, body });
  } else world.bus.publish('events', [messageOf(planned)]);
}

/** One event is the body itself; several are an array. */
export function bodyOf(items: readonly SubmittedItem[]): string {
  const texts = items.map((item) => messageOf(item).data);
  return texts.length === 1 ? texts[0]! : `[${texts.join(',')}]`;
}
