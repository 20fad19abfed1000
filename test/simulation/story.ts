import { checkRest, isDone } from './check.ts';
import { FAIR, type Director } from './director.ts';
import { NONE, type Call, type Fault } from './faults.ts';
import type { Plan, PlannedEvent, PlannedMessage, PlannedWatch, SubmittedItem } from './plan.ts';
import { watch } from './watch.ts';
import { World } from './world.ts';

/** A schedule that somebody wrote down, where a plan leaves it to chance. */
export interface Story extends Partial<Pick<Plan, 'settings' | 'join' | 'ttl' | 'instances'>> {
  readonly messages: readonly PlannedMessage[];
  /** What a call meets; nothing unless it says so. Sees the world before the call has its effect. */
  readonly fault?: (call: Call, world: World) => Fault | undefined;
  readonly director?: Partial<Director>;
  /** Changes the world before it begins. */
  readonly prepare?: (world: World) => void;
  /** When it is over; by default once nothing more happens by itself. */
  readonly until?: (world: World) => boolean;
  /** Whether everything must hold at the end that holds after any schedule; by default it must. */
  readonly check?: boolean;
}

/** Plays a story to its end. @throws Error when something did not hold */
export async function play(story: Story): Promise<World> {
  const { messages, settings = {}, join = false, ttl = false, instances = 1 } = story;
  const plan = { messages, settings, join, ttl, instances, skew: [], faults: 0, rate: 0, focus: null };
  const director: Director = { ...FAIR, ...story.director, fault: (call) => story.fault?.(call, world) ?? NONE };
  const world: World = new World(plan, director, watch);
  story.prepare?.(world);
  await world.run(story.until ?? isDone);
  if (story.check !== false) checkRest(world);
  return world;
}

/** A message of the key `k`; `at` and `time` in milliseconds. */
export function publish(
  id: string,
  more: Partial<PlannedEvent> & { readonly at?: number } = {},
): PlannedMessage & { event: PlannedEvent } {
  const { at = 0, ...event } = more;
  const status = id.startsWith('z') ? 'completed' : 'started';
  return { at, event: { key: 'k', id, status, time: Number(/\d+/.exec(id)?.[0] ?? 0) * 100, ...event } };
}

/** The n-th call (from 1) of its kind meets the fault. */
export function once(match: (call: Call) => boolean, fault: Fault, n = 1): (call: Call) => Fault | undefined {
  let count = 0;
  return (call) => (match(call) && ++count === n ? fault : undefined);
}

/** Several faults of one story; each counts all calls of its kind. */
export function all(...faults: readonly ((call: Call) => Fault | undefined)[]): (call: Call) => Fault | undefined {
  return (call) => faults.map((fault) => fault(call)).find((fault) => fault !== undefined);
}

/** Whether a call is `entry port.method`, for example `finish store.commit`. */
export function is(text: string): (call: Call) => boolean {
  return ({ entry, port, method }) => text === `${entry} ${port}.${method}`;
}

/** Scheduled functions that never run. */
export const NO_SWEEP: Partial<Director> = { ticks: (entry) => (entry === 'sweep' ? 0 : 1) };

/** `revision state complete total_steps` of the summaries that were written, repeats left out. */
export function summariesOf(world: World, key = 'k'): string[] {
  const rows = world.summaries.commits.map(({ row }) => row).filter((row) => row.unique_key === key);
  return [...new Set(rows.map((r) => `${r.revision} ${r.state} ${r.complete ? 'complete' : 'gaps'} ${r.total_steps}`))];
}

/** A watch of the key `k`, asked for by a message unless it says otherwise. */
export function watchFor(
  id: string,
  more: Partial<PlannedWatch> & { readonly at?: number; readonly by?: 'message' | 'post' } = {},
): PlannedMessage & { watch: PlannedWatch } {
  const { at = 0, by = 'message', ...watch } = more;
  return { at, by, watch: { id, key: 'k', probe: 'http', readyAt: null, interval: 20, timeout: 300, ...watch } };
}

/** Outcomes that the events of watches tell, repeats left out. */
export function outcomesOf(world: World): string[] {
  const texts = new Set(world.bus.published('events').map(({ data }) => data as string));
  return [...texts].flatMap((text) => {
    const { watch } = JSON.parse(text) as { watch?: { outcome: string } };
    return watch === undefined ? [] : [watch.outcome];
  });
}

export function cancel(id: string, at: number): PlannedMessage {
  return { at, cancel: id };
}

/** One request with these events. */
export function submit(by: 'task' | 'call', ...items: readonly SubmittedItem[]): PlannedMessage {
  return { at: 0, by, submit: items };
}
